-- The model of the sale. Times are UTC milliseconds, money is the currency's smallest unit.
-- Texts that people read exist in English (_en) and Simplified Chinese (_zh).

CREATE TABLE venue (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    seed_key VARCHAR(64) COLLATE utf8mb4_bin NULL,
    name_en VARCHAR(120) NOT NULL,
    name_zh VARCHAR(120) NOT NULL,
    city_key VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    city_en VARCHAR(80) NOT NULL,
    city_zh VARCHAR(80) NOT NULL,
    time_zone VARCHAR(64) NOT NULL,
    currency CHAR(3) NOT NULL,
    UNIQUE KEY venue_seed_key (seed_key),
    KEY venue_city (city_key)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE hall (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    seed_key VARCHAR(64) COLLATE utf8mb4_bin NULL,
    venue_id BIGINT UNSIGNED NOT NULL,
    name_en VARCHAR(120) NOT NULL,
    name_zh VARCHAR(120) NOT NULL,
    plan_id BIGINT UNSIGNED NULL,
    UNIQUE KEY hall_seed_key (seed_key),
    CONSTRAINT hall_venue FOREIGN KEY (venue_id) REFERENCES venue (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- A plan is never changed: editing a hall adds a version, and shows keep the version they were made with.
CREATE TABLE seating_plan (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    hall_id BIGINT UNSIGNED NOT NULL,
    version INT UNSIGNED NOT NULL,
    name VARCHAR(200) NOT NULL,
    seat_count INT UNSIGNED NOT NULL,
    content_sha256 CHAR(64) COLLATE utf8mb4_bin NOT NULL,
    content MEDIUMTEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE KEY seating_plan_version (hall_id, version),
    CONSTRAINT seating_plan_hall FOREIGN KEY (hall_id) REFERENCES hall (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE event (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    seed_key VARCHAR(64) COLLATE utf8mb4_bin NULL,
    kind VARCHAR(16) NOT NULL,
    title_en VARCHAR(200) NOT NULL,
    title_zh VARCHAR(200) NOT NULL,
    by_en VARCHAR(200) NOT NULL,
    by_zh VARCHAR(200) NOT NULL,
    duration_min INT UNSIGNED NOT NULL,
    language_en VARCHAR(120) NOT NULL,
    language_zh VARCHAR(120) NOT NULL,
    summary_en VARCHAR(300) NOT NULL,
    summary_zh VARCHAR(300) NOT NULL,
    description_en TEXT NOT NULL,
    description_zh TEXT NOT NULL,
    poster VARCHAR(200) NOT NULL,
    UNIQUE KEY event_seed_key (seed_key)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- `show` is a reserved word, hence the plural.
CREATE TABLE shows (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    event_id BIGINT UNSIGNED NOT NULL,
    hall_id BIGINT UNSIGNED NOT NULL,
    plan_id BIGINT UNSIGNED NOT NULL,
    starts_at BIGINT NOT NULL,
    ends_at BIGINT NOT NULL,
    sale_start BIGINT NOT NULL,
    sale_end BIGINT NOT NULL,
    status TINYINT UNSIGNED NOT NULL DEFAULT 0,
    limit_per_buyer INT UNSIGNED NOT NULL DEFAULT 4,
    level_required TINYINT UNSIGNED NOT NULL DEFAULT 0,
    hold_ms BIGINT NOT NULL DEFAULT 900000,
    seats_total INT UNSIGNED NOT NULL,
    UNIQUE KEY shows_hall_start (hall_id, starts_at),
    KEY shows_start (starts_at, status),
    KEY shows_event (event_id, starts_at),
    CONSTRAINT shows_event FOREIGN KEY (event_id) REFERENCES event (id),
    CONSTRAINT shows_hall FOREIGN KEY (hall_id) REFERENCES hall (id),
    CONSTRAINT shows_plan FOREIGN KEY (plan_id) REFERENCES seating_plan (id),
    CONSTRAINT shows_window CHECK (sale_start < sale_end AND starts_at < ends_at),
    CONSTRAINT shows_hold CHECK (hold_ms BETWEEN 1000 AND 86400000)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- A price category of a show: the seats of one category of its plan.
CREATE TABLE show_zone (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    show_id BIGINT UNSIGNED NOT NULL,
    category VARCHAR(120) COLLATE utf8mb4_bin NOT NULL,
    name_en VARCHAR(120) NOT NULL,
    name_zh VARCHAR(120) NOT NULL,
    price_minor BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    seats_total INT UNSIGNED NOT NULL,
    UNIQUE KEY show_zone_category (show_id, category),
    CONSTRAINT show_zone_show FOREIGN KEY (show_id) REFERENCES shows (id),
    CONSTRAINT show_zone_price CHECK (price_minor >= 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Seats that differ from "free": sold (2) or withheld (3). Eventually equal to the map; holds (1) are not copied.
CREATE TABLE show_seat (
    show_id BIGINT UNSIGNED NOT NULL,
    seat INT UNSIGNED NOT NULL,
    state TINYINT UNSIGNED NOT NULL,
    order_no BIGINT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (show_id, seat)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE account (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    phone VARCHAR(20) COLLATE utf8mb4_bin NOT NULL,
    password_hash VARCHAR(200) COLLATE utf8mb4_bin NOT NULL,
    role VARCHAR(16) NOT NULL,
    level TINYINT UNSIGNED NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE KEY account_phone (phone)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- No foreign keys below: these rows are written in batches by the thousand, and what they point at never goes away.
CREATE TABLE orders (
    order_no BIGINT NOT NULL PRIMARY KEY,
    user_id BIGINT UNSIGNED NOT NULL,
    show_id BIGINT UNSIGNED NOT NULL,
    status TINYINT UNSIGNED NOT NULL,
    cancel_reason VARCHAR(32) NULL,
    amount_minor BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    channel VARCHAR(32) NOT NULL,
    limit_counters VARCHAR(1000) COLLATE utf8mb4_bin NOT NULL,
    placed_at BIGINT NOT NULL,
    expire_at BIGINT NOT NULL,
    paid_at BIGINT NULL,
    closed_at BIGINT NULL,
    KEY orders_user (user_id, order_no),
    KEY orders_due (status, expire_at),
    KEY orders_show (show_id, status)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE order_item (
    order_no BIGINT NOT NULL,
    seat INT UNSIGNED NOT NULL,
    show_id BIGINT UNSIGNED NOT NULL,
    zone_id BIGINT UNSIGNED NOT NULL,
    price_minor BIGINT NOT NULL,
    section VARCHAR(120) NOT NULL,
    seat_row VARCHAR(40) NOT NULL,
    seat_number VARCHAR(40) NOT NULL,
    PRIMARY KEY (order_no, seat)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- The last line of defence: a seat of a show belongs to one live order.
CREATE TABLE seat_claim (
    show_id BIGINT UNSIGNED NOT NULL,
    seat INT UNSIGNED NOT NULL,
    order_no BIGINT NOT NULL,
    PRIMARY KEY (show_id, seat),
    KEY seat_claim_order (order_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE payment (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    out_trade_no VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    third_trade_no VARCHAR(64) COLLATE utf8mb4_bin NULL,
    order_no BIGINT NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    channel VARCHAR(32) NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    status TINYINT UNSIGNED NOT NULL,
    cashier_url VARCHAR(500) NULL,
    notify_status VARCHAR(16) NULL,
    notify_content TEXT NULL,
    fail_reason VARCHAR(200) NULL,
    expire_at BIGINT NOT NULL,
    pay_time BIGINT NULL,
    create_time BIGINT NOT NULL,
    update_time BIGINT NOT NULL,
    -- At most one open payment an order, kept so by the database.
    open_order_no BIGINT AS (CASE WHEN status IN (1, 2) THEN order_no END) STORED,
    UNIQUE KEY payment_out_trade_no (out_trade_no),
    UNIQUE KEY payment_open_order (open_order_no),
    KEY payment_order (order_no),
    KEY payment_status_time (status, create_time)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE payment_callback (
    callback_id VARCHAR(64) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    channel VARCHAR(32) NOT NULL,
    out_trade_no VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    raw_body TEXT NOT NULL,
    result VARCHAR(32) NOT NULL,
    repeats INT UNSIGNED NOT NULL DEFAULT 0,
    received_at BIGINT NOT NULL,
    KEY payment_callback_trade (out_trade_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE refund (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    refund_no VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    payment_id BIGINT UNSIGNED NOT NULL,
    order_no BIGINT NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    reason VARCHAR(32) NOT NULL,
    status TINYINT UNSIGNED NOT NULL,
    requested_at BIGINT NOT NULL,
    succeeded_at BIGINT NULL,
    UNIQUE KEY refund_no (refund_no),
    KEY refund_payment (payment_id),
    KEY refund_order (order_no),
    CONSTRAINT refund_amount CHECK (amount_minor > 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Double entry: the entries of one posting add up to zero; nothing is ever changed or deleted.
CREATE TABLE ledger_entry (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    posting VARCHAR(80) COLLATE utf8mb4_bin NOT NULL,
    account VARCHAR(32) NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    order_no BIGINT NOT NULL,
    posted_at BIGINT NOT NULL,
    UNIQUE KEY ledger_posting_account (posting, account),
    KEY ledger_order (order_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Money that disagrees with its order, until it is put right.
CREATE TABLE discrepancy (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARCHAR(32) NOT NULL,
    reference VARCHAR(80) COLLATE utf8mb4_bin NOT NULL,
    order_no BIGINT NOT NULL,
    detail VARCHAR(500) NOT NULL,
    opened_at BIGINT NOT NULL,
    resolved_at BIGINT NULL,
    UNIQUE KEY discrepancy_reference (kind, reference),
    KEY discrepancy_open (resolved_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- What must still happen outside the database after a commit. A row is deleted once it has happened; one that failed
-- too often stays as a dead letter for staff.
CREATE TABLE outbox (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind VARCHAR(32) NOT NULL,
    order_no BIGINT NOT NULL,
    payload TEXT NOT NULL,
    attempts INT UNSIGNED NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    dead_at BIGINT NULL,
    last_error VARCHAR(500) NULL,
    created_at BIGINT NOT NULL,
    KEY outbox_due (dead_at, next_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Every repair, and every order that was given up on the way.
CREATE TABLE reconciliation_entry (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    class VARCHAR(32) NOT NULL,
    show_id BIGINT UNSIGNED NOT NULL,
    order_no BIGINT NULL,
    detail VARCHAR(500) NOT NULL,
    noted_at BIGINT NOT NULL,
    KEY reconciliation_time (noted_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
