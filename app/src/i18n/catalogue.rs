//! Words of the home page and the event page.

use super::{Lang, texts, time};
use crate::domain::{
    catalogue::{EventKind, SaleState},
    money::Money,
    time::{Civil, VenueTime},
};

texts! {
    /// Words of the lists of what is on.
    CatalogueText {
        title: "What is on", "正在上演";
        tonight: "Tonight", "今晚";
        next: "Next", "即将上演";
        choose_seats: "Choose seats", "选座购票";
        see_shows: "See all shows", "查看全部场次";
        city: "City", "城市";
        day: "Day", "日期";
        today: "Today", "今天";
        times_at_venue: "times at the venue", "场馆当地时间";
        nothing_on: "Nothing is on this day", "这一天没有演出";
        nothing_on_hint: "Choose another day or another city.", "请选择其他日期或城市。";
        nothing_anywhere: "Nothing is on at the moment", "目前没有演出";
        nothing_anywhere_hint: "New shows appear here as soon as they are on sale.", "新场次开售后会显示在这里。";
        no_shows: "No coming shows", "暂无场次";
        shows: "Shows", "场次";
        film: "Film", "电影";
        concert: "Concert", "演唱会";
        directed_by: "Directed by", "导演";
        artist: "With", "演出者";
        language: "Language", "语言";
        duration: "Duration", "时长";
        sold_out: "Sold out", "已售罄";
        ended: "Sale over", "已停售";
        withdrawn: "Withdrawn", "已取消";
    }
}

impl CatalogueText {
    /// What an event is.
    #[must_use]
    pub fn kind(&self, kind: EventKind) -> &'static str {
        match kind {
            EventKind::Film => self.film,
            EventKind::Concert => self.concert,
        }
    }

    /// Before the name of the director or the artist.
    #[must_use]
    pub fn by(&self, kind: EventKind) -> &'static str {
        match kind {
            EventKind::Film => self.directed_by,
            EventKind::Concert => self.artist,
        }
    }
}

/// Heading over a city's events.
#[must_use]
pub fn shows_in(lang: Lang, city: &str) -> String {
    match lang {
        Lang::En => format!("Shows in {city}"),
        Lang::ZhCn => format!("{city}的演出"),
    }
}

/// The lowest price: `from ¥32.00`, `¥32.00 起`.
#[must_use]
pub fn price_from(lang: Lang, price: Money) -> String {
    match lang {
        Lang::En => format!("from {price}"),
        Lang::ZhCn => format!("{price} 起"),
    }
}

/// What a bar of free seats means, for those who don't see it.
#[must_use]
pub fn seats_free(lang: Lang, free: u32, total: u32) -> String {
    match lang {
        Lang::En => format!("{free} of {total} seats free"),
        Lang::ZhCn => format!("{total} 座中余 {free} 座"),
    }
}

/// Why a show can't be bought now; none when it can. `clock` is any time on the show's clock.
#[must_use]
pub fn sale_note(lang: Lang, sale: &SaleState, clock: &VenueTime) -> Option<String> {
    let text = CatalogueText::of(lang);
    match sale {
        SaleState::OnSale => None,
        SaleState::NotYet { opens_at } => {
            let opens = time::date_time(lang, &clock.with(*opens_at));
            Some(match lang {
                Lang::En => format!("On sale {opens}"),
                Lang::ZhCn => format!("{opens} 开售"),
            })
        }
        SaleState::Ended => Some(text.ended.to_owned()),
        SaleState::SoldOut => Some(text.sold_out.to_owned()),
        SaleState::Withdrawn => Some(text.withdrawn.to_owned()),
    }
}

/// What the first event of a page is introduced with: `Tonight` when it begins on the day `today`, `Next` otherwise.
#[must_use]
pub fn introduction(lang: Lang, starts: &Civil, today: &str) -> &'static str {
    let text = CatalogueText::of(lang);
    if starts.iso_date() != today {
        return text.next;
    }
    if starts.hour >= 17 {
        text.tonight
    } else {
        text.today
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    #[test]
    fn a_show_that_cannot_be_bought_says_why() {
        let clock = VenueTime {
            at: Timestamp(0),
            offset_min: 480,
            zone: "Asia/Shanghai".to_owned(),
        };
        let opens = SaleState::NotYet {
            opens_at: Timestamp(1_795_951_800_000),
        };
        assert_eq!(
            sale_note(Lang::En, &opens, &clock).unwrap(),
            "On sale Sun 29 Nov, 19:30"
        );
        assert_eq!(
            sale_note(Lang::ZhCn, &opens, &clock).unwrap(),
            "11月29日 周日 19:30 开售"
        );
        assert_eq!(sale_note(Lang::En, &SaleState::OnSale, &clock), None);
        assert_eq!(
            sale_note(Lang::ZhCn, &SaleState::SoldOut, &clock).unwrap(),
            "已售罄"
        );
    }
}
