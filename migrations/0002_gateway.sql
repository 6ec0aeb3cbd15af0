-- The simulated gateway's own store. SeatFlow's code never reads it; the two meet over HTTP only.
-- Moments are milliseconds since the Unix epoch, UTC. Identifiers compare byte for byte.

CREATE TABLE gw_payment (
    third_trade_no   VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    out_trade_no     VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    amount_minor     BIGINT       NOT NULL,
    currency         CHAR(3)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    subject_en       VARCHAR(250) NOT NULL,
    subject_zh       VARCHAR(250) NOT NULL,
    notify_url       VARCHAR(512) NOT NULL,
    return_url       VARCHAR(512) NOT NULL,
    status           VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    expires_at       BIGINT       NOT NULL,
    created_at       BIGINT       NOT NULL,
    paid_at          BIGINT       NULL,
    -- Switches of a success that is still to come, as JSON; NULL when none is.
    late_switches    TEXT         NULL,
    -- When that success comes; NULL while it waits for the payment to be closed.
    late_at          BIGINT       NULL,
    -- Until when the cashier page claims that the payment failed.
    page_fails_until BIGINT       NULL,
    -- What happens to the next refund_times refunds: accept, refuse or fail; and how long a refund takes.
    refund_answer    VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    refund_times     INT UNSIGNED NOT NULL,
    refund_delay_s   INT UNSIGNED NOT NULL,
    PRIMARY KEY (third_trade_no),
    UNIQUE KEY gw_payment_out_trade_no (out_trade_no),
    KEY gw_payment_expiry (status, expires_at),
    KEY gw_payment_late (late_at),
    CONSTRAINT gw_payment_amount CHECK (amount_minor > 0),
    CONSTRAINT gw_payment_status CHECK (status IN ('open', 'succeeded', 'failed', 'closed'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE gw_refund (
    refund_no      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    third_trade_no VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    out_trade_no   VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    amount_minor   BIGINT       NOT NULL,
    currency       CHAR(3)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    notify_url     VARCHAR(512) NOT NULL,
    status         VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    -- What the refund becomes at due_at.
    outcome        VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    due_at         BIGINT       NOT NULL,
    created_at     BIGINT       NOT NULL,
    settled_at     BIGINT       NULL,
    PRIMARY KEY (refund_no),
    KEY gw_refund_payment (third_trade_no),
    KEY gw_refund_due (status, due_at),
    CONSTRAINT gw_refund_amount CHECK (amount_minor > 0),
    CONSTRAINT gw_refund_status CHECK (status IN ('processing', 'succeeded', 'failed')),
    CONSTRAINT gw_refund_outcome CHECK (outcome IN ('succeeded', 'failed'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE gw_delivery (
    id              BIGINT       NOT NULL AUTO_INCREMENT,
    callback_id     VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    -- 0 for the callback itself, 1 and up for deliberate duplicates.
    copy_no         INT UNSIGNED NOT NULL,
    third_trade_no  VARCHAR(40)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    url             VARCHAR(512) NOT NULL,
    body            TEXT         NOT NULL,
    wrong_signature BOOLEAN      NOT NULL,
    stale_timestamp BOOLEAN      NOT NULL,
    wrong_amount    BOOLEAN      NOT NULL,
    -- How many attempts carry the faults above before the callback is sent as it should be.
    faulty_attempts INT UNSIGNED NOT NULL,
    attempts        INT UNSIGNED NOT NULL,
    -- NULL when nothing is left to do, so that the index holds the work that is left and no more.
    next_at         BIGINT       NULL,
    last_answer     VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NULL,
    first_due_at    BIGINT       NOT NULL,
    acknowledged_at BIGINT       NULL,
    gave_up_at      BIGINT       NULL,
    PRIMARY KEY (id),
    UNIQUE KEY gw_delivery_copy (callback_id, copy_no),
    KEY gw_delivery_due (next_at),
    KEY gw_delivery_payment (third_trade_no)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4;
