-- Standing zones: places without seats, counted, and split in pieces so that a rush for one zone is spread.

-- NULL capacity: a zone of seats. `pieces` says in how many pieces a standing zone is split; it never changes.
ALTER TABLE show_zone
    ADD COLUMN standing_capacity INT UNSIGNED NULL,
    ADD COLUMN pieces SMALLINT UNSIGNED NOT NULL DEFAULT 1,
    ADD CONSTRAINT show_zone_pieces CHECK (pieces BETWEEN 1 AND 256);

-- The last line of defence: live orders never have more places of a zone than there are. `taken` moves in the
-- transaction that makes or ends an order.
CREATE TABLE standing_stock (
    zone_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    capacity INT UNSIGNED NOT NULL,
    taken INT UNSIGNED NOT NULL DEFAULT 0,
    CONSTRAINT standing_stock_taken CHECK (taken <= capacity)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- How a zone's capacity is shared among its pieces. The shares add up to the capacity.
CREATE TABLE standing_piece (
    zone_id BIGINT UNSIGNED NOT NULL,
    piece SMALLINT UNSIGNED NOT NULL,
    total INT UNSIGNED NOT NULL,
    PRIMARY KEY (zone_id, piece)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- From which pieces an order's places came, and how many of each it still has when it is live.
CREATE TABLE order_piece (
    order_no BIGINT NOT NULL,
    zone_id BIGINT UNSIGNED NOT NULL,
    piece SMALLINT UNSIGNED NOT NULL,
    quantity INT UNSIGNED NOT NULL,
    PRIMARY KEY (order_no, zone_id, piece),
    KEY order_piece_zone (zone_id, piece)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
