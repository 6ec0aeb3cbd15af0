-- The books: how each zone's places became what they are, who may not buy, and which dead letters were sent back.

-- A line for each change of a zone's remaining places, as the scripts wrote it in the same step as the change. A line is
-- named by its place in Redis's log (milliseconds and a number within them), so that copying it twice leaves one row.
-- quantity_before is NULL where a chain begins: the zone was not in Redis before.
CREATE TABLE zone_quantity_log (
    show_id BIGINT UNSIGNED NOT NULL,
    zone_id BIGINT UNSIGNED NOT NULL,
    piece SMALLINT UNSIGNED NOT NULL DEFAULT 0,
    logged_at BIGINT NOT NULL,
    seq INT UNSIGNED NOT NULL,
    quantity_before BIGINT NULL,
    quantity_change BIGINT NOT NULL,
    quantity_after BIGINT NOT NULL,
    order_no BIGINT NULL,
    why VARCHAR(16) COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (show_id, zone_id, piece, logged_at, seq),
    KEY zone_quantity_order (order_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Accounts, phones (as keyed hashes), devices and addresses that can't buy. until_ms is NULL for good.
CREATE TABLE block_entry (
    kind VARCHAR(8) COLLATE utf8mb4_bin NOT NULL,
    value VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    reason VARCHAR(200) NOT NULL,
    until_ms BIGINT NULL,
    created_at BIGINT NOT NULL,
    created_by VARCHAR(64) NOT NULL,
    PRIMARY KEY (kind, value)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Dead letters of Kafka that were sent back to where they came from. The letter itself stays in its topic.
CREATE TABLE dead_letter_retry (
    topic VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    letter_partition INT NOT NULL,
    letter_offset BIGINT NOT NULL,
    retried_at BIGINT NOT NULL,
    PRIMARY KEY (topic, letter_partition, letter_offset)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
