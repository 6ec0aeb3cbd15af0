-- What happens to a show while it is on sale: its terms change, it is withdrawn, Redis loses it.

-- `terms_version` guards a change against another one; `terms_changed_at` says how long Redis may be behind;
-- `redis_epoch` numbers the lives of the show's keys in Redis, so that no two of them have one number.
ALTER TABLE shows
    ADD COLUMN terms_version INT UNSIGNED NOT NULL DEFAULT 1,
    ADD COLUMN terms_changed_at BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN redis_epoch INT UNSIGNED NOT NULL DEFAULT 0;

-- A withdrawn show, until the last of its orders is cancelled or refunded. The numbers are counted from the orders
-- whenever they are written, so that a crash can't make them wrong.
CREATE TABLE show_withdrawal (
    show_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    orders_found INT UNSIGNED NOT NULL DEFAULT 0,
    cancelled INT UNSIGNED NOT NULL DEFAULT 0,
    refunds_requested INT UNSIGNED NOT NULL DEFAULT 0,
    refunded INT UNSIGNED NOT NULL DEFAULT 0,
    requested_at BIGINT NOT NULL,
    -- When Redis was told that nothing of it is sold any more; orders accepted before may still be on their way.
    closed_in_redis_at BIGINT NULL,
    finished_at BIGINT NULL,
    KEY show_withdrawal_open (finished_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Refunds of a show's orders are looked up by why they were made.
ALTER TABLE refund ADD KEY refund_order_reason (order_no, reason);
