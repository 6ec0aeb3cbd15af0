//! Making an accepted order known: to whoever asks for it, and to Kafka.

use super::{Ticketing, place::encoded};
use crate::{
    fault::{self, Point},
    kafka::{TraceParent, messages::Placed as PlacedMessage},
};
use app::domain::ids::{OrderNo, ShowId};

impl Ticketing {
    /// Makes the order known to readers and to Kafka. Nothing here can fail the order: the relay makes up for it.
    pub(super) async fn announce(&self, message: &PlacedMessage) {
        let json = encoded(message);
        let cached = self.inner.redis.cache_order(message.order_no, &json).await;
        if let Err(error) = cached {
            tracing::warn!(order_no = %message.order_no, %error, "order not cached");
        }
        fault::point(Point::PlaceAfterCache);
        self.send(message);
        fault::point(Point::PlaceAfterSend);
    }

    /// Sends an order's message; its acknowledgement takes it off the list of unsent orders. Until then the relay leaves it
    /// alone.
    pub(super) fn send(&self, message: &PlacedMessage) {
        let (order_no, show) = (message.order_no, message.show_id);
        let being_sent = self.inner.sending.begin(order_no);
        let delivery = match self
            .inner
            .producer
            .send(message, Some(TraceParent::random()))
        {
            Ok(delivery) => delivery,
            Err(error) => {
                tracing::warn!(%order_no, %error, "order not sent, the relay will");
                return;
            }
        };
        let redis = self.inner.redis.clone();
        tokio::spawn(async move {
            // Until Redis knows of the acknowledgement, or nobody will ever know of one.
            let _being_sent = being_sent;
            if let Err(error) = delivery.await {
                tracing::warn!(%order_no, %error, "order perhaps not sent, the relay will");
                return;
            }
            fault::point(Point::PlaceAfterAck);
            if let Err(error) = redis.acknowledge_sent(show, order_no).await {
                tracing::warn!(%order_no, %error, "order sent but still listed, the relay sends it again");
            }
        });
    }

    /// Makes an order that is held and not yet sent known to readers: the server that held it may have died before it did.
    /// Sending it is the relay's part.
    pub(super) async fn show_unsent(&self, show: ShowId, order_no: OrderNo) {
        let redis = &self.inner.redis;
        let shown = match redis.unsent_message(show, order_no).await {
            Ok(Some(json)) => redis.cache_order(order_no, &json).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = shown {
            tracing::warn!(%order_no, %error, "an order that was asked for again is not cached");
        }
    }
}
