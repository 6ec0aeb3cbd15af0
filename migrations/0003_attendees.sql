-- Tickets are for named persons where a show wants it, and a ticket may be for a place without a seat.

-- The people a customer buys for. The document is nowhere: `identity` is its keyed hash, the same in every account, and
-- `document_tail` its last characters, by which the owner of the list recognises it.
CREATE TABLE attendee (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user_id BIGINT UNSIGNED NOT NULL,
    name VARCHAR(120) NOT NULL,
    document_kind VARCHAR(16) NOT NULL,
    document_tail VARCHAR(8) NOT NULL,
    identity CHAR(32) NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT NULL,
    -- The identity while the person is in the list, where nobody stands twice. An entry that was taken off stays, because
    -- orders name it, and has none.
    listed_identity CHAR(32) NULL,
    UNIQUE KEY attendee_listed (user_id, listed_identity)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

ALTER TABLE shows ADD COLUMN attendees_required TINYINT UNSIGNED NOT NULL DEFAULT 0;

-- An item is a ticket. Until now each had a seat, whose number is its place in the order from here on as well.
ALTER TABLE order_item ADD COLUMN item_no INT UNSIGNED NOT NULL DEFAULT 0 AFTER order_no;

UPDATE order_item SET item_no = seat;

ALTER TABLE order_item
    DROP PRIMARY KEY,
    ADD PRIMARY KEY (order_no, item_no),
    MODIFY COLUMN seat INT UNSIGNED NULL,
    ADD COLUMN attendee_id BIGINT UNSIGNED NULL,
    ADD COLUMN attendee_name VARCHAR(120) NULL,
    ADD COLUMN attendee_identity CHAR(32) NULL;
