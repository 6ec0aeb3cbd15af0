//! One producer for the whole server. It takes a message at once or refuses it; it never makes its caller wait.

use super::{
    KafkaConfig, KafkaSetupError, Message, Topic, TraceParent, client::ClientLog,
    trace::TRACEPARENT,
};
use rdkafka::{
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{self, FutureProducer, FutureRecord, Producer as _},
};
use std::{
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    task::{Context, Poll},
    time::Duration,
};

type Inner = FutureProducer<ClientLog>;

/// Why a message is not known to be written.
#[derive(Debug, thiserror::Error)]
pub enum ProduceError {
    /// Too many messages wait for an acknowledgement. This one was not taken.
    #[error("the producer's queue is full")]
    QueueFull,
    /// The message was not taken, for example because it is too large.
    #[error("the message was refused")]
    Refused(#[source] KafkaError),
    /// The message was taken, and no acknowledgement came. It may have been written, or may still be: send it again, and
    /// never undo what it announces.
    #[error("no acknowledgement came")]
    Unknown(#[source] KafkaError),
    /// As [`ProduceError::Unknown`]: nobody waited longer, and the acknowledgement may still come.
    #[error("no acknowledgement came in time")]
    Late,
}

impl ProduceError {
    /// Whether the message is larger than may be written, so that it never will be.
    pub(super) fn is_too_large(&self) -> bool {
        let (Self::Refused(error) | Self::Unknown(error)) = self else {
            return false;
        };
        matches!(
            error.rdkafka_error_code(),
            Some(RDKafkaErrorCode::MessageSizeTooLarge)
        )
    }
}

/// Resolves when a message is acknowledged by all in-sync copies, or when nobody can know any more: after 10 s at the
/// latest.
#[must_use = "a message is not known to be written before its acknowledgement"]
pub struct DeliveryFuture(producer::future_producer::DeliveryFuture);

impl DeliveryFuture {
    /// Waits no longer than this.
    ///
    /// # Errors
    /// [`ProduceError::Late`] when that was too short, else as the future itself.
    pub async fn within(self, patience: Duration) -> Result<(), ProduceError> {
        let answer = tokio::time::timeout(patience, self).await;
        answer.unwrap_or(Err(ProduceError::Late))
    }
}

impl Future for DeliveryFuture {
    type Output = Result<(), ProduceError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|answer| match answer {
            Ok(Ok(_)) => Ok(()),
            Ok(Err((error, _))) => Err(ProduceError::Unknown(error)),
            Err(_) => Err(ProduceError::Unknown(KafkaError::Canceled)),
        })
    }
}

/// Sends messages; cheap to clone, all clones share one queue.
#[derive(Clone)]
pub struct Producer {
    config: KafkaConfig,
    inner: Arc<RwLock<Inner>>,
}

impl Producer {
    /// Starts a producer. It does not wait for the brokers.
    ///
    /// # Errors
    /// When librdkafka refuses the settings.
    pub fn new(config: &KafkaConfig) -> Result<Self, KafkaSetupError> {
        let inner = start(config).map_err(KafkaSetupError::Client)?;
        Ok(Self {
            config: config.clone(),
            inner: Arc::new(RwLock::new(inner)),
        })
    }

    /// Where it sends to.
    #[must_use]
    pub fn config(&self) -> &KafkaConfig {
        &self.config
    }

    /// Puts a message into the queue. Messages of one key keep their order.
    ///
    /// # Errors
    /// [`ProduceError::QueueFull`] or [`ProduceError::Refused`]; the message was not taken then.
    pub fn enqueue(
        &self,
        topic: Topic,
        key: &str,
        payload: &[u8],
        trace: Option<TraceParent>,
    ) -> Result<DeliveryFuture, ProduceError> {
        let mut headers = OwnedHeaders::new();
        if let Some(trace) = trace {
            let value = trace.to_string();
            headers = headers.insert(Header {
                key: TRACEPARENT,
                value: Some(&value),
            });
        }
        self.enqueue_record(&self.config.topic(topic), key.as_bytes(), payload, headers)
    }

    /// Puts a message into the queue of its topic, under its key.
    ///
    /// # Errors
    /// [`ProduceError::QueueFull`] or [`ProduceError::Refused`]; the message was not taken then.
    pub fn send<M: Message>(
        &self,
        message: &M,
        trace: Option<TraceParent>,
    ) -> Result<DeliveryFuture, ProduceError> {
        self.enqueue(M::TOPIC, &message.key(), &message.encode(), trace)
    }

    pub(super) fn enqueue_record(
        &self,
        topic: &str,
        key: &[u8],
        payload: &[u8],
        headers: OwnedHeaders,
    ) -> Result<DeliveryFuture, ProduceError> {
        let record = FutureRecord::to(topic)
            .key(key)
            .payload(payload)
            .headers(headers);
        let inner = self.current();
        let (error, record) = match inner.send_result(record) {
            Ok(delivery) => return Ok(DeliveryFuture(delivery)),
            Err(refused) => refused,
        };
        if error.rdkafka_error_code() != Some(RDKafkaErrorCode::Fatal) {
            return Err(why_not_taken(error));
        }
        self.restart(&inner)?;
        let again = self.current().send_result(record);
        again
            .map(DeliveryFuture)
            .map_err(|(error, _)| why_not_taken(error))
    }

    /// Waits until everything in the queue is acknowledged or given up.
    ///
    /// # Errors
    /// When `timeout` passes first.
    pub async fn flush(&self, timeout: Duration) -> Result<(), ProduceError> {
        let inner = self.current();
        // librdkafka's flush blocks its thread.
        let flushed = tokio::task::spawn_blocking(move || inner.flush(timeout)).await;
        flushed
            .unwrap_or(Err(KafkaError::Canceled))
            .map_err(ProduceError::Unknown)
    }

    fn current(&self) -> Inner {
        self.inner
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces a producer that met an error from which an idempotent producer can't recover: its brokers lost what it had
    /// written. What it still had in its queue is answered as unknown.
    fn restart(&self, broken: &Inner) -> Result<(), ProduceError> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        if std::ptr::eq(inner.client().native_ptr(), broken.client().native_ptr()) {
            tracing::error!(error = ?inner.client().fatal_error(), "kafka producer is restarted");
            let fresh = start(&self.config).map_err(ProduceError::Refused)?;
            let old = std::mem::replace(&mut *inner, fresh);
            // Dropping it purges its queue and joins its thread.
            std::thread::spawn(move || drop(old));
        }
        Ok(())
    }
}

fn start(config: &KafkaConfig) -> Result<Inner, KafkaError> {
    config.producer().create_with_context(ClientLog)
}

fn why_not_taken(error: KafkaError) -> ProduceError {
    match error.rdkafka_error_code() {
        Some(RDKafkaErrorCode::QueueFull) => ProduceError::QueueFull,
        _ => ProduceError::Refused(error),
    }
}
