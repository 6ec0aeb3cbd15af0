//! What a customer does, and how the gateway makes trouble about it.

use proptest::{bool::weighted, collection::vec, option, prelude::*};

/// The acts of one order's buyer, in their order.
pub type Life = Vec<Act>;

/// Something that a customer does.
#[derive(Debug, Clone)]
pub enum Act {
    Nothing,
    /// Goes to the cashier, or back to it, and presses a button there.
    Press(Button, Switches),
    /// Presses a button on the oldest cashier page that is still open in a tab.
    PressInOldTab(Button, Switches),
    GiveUp,
    /// Asks staff for more time, and gets it.
    GetTime,
    /// Gives tickets back that were paid for.
    GiveBack(Tickets),
}

#[derive(Debug, Clone, Copy)]
pub enum Tickets {
    First,
    All,
}

#[derive(Debug, Clone, Copy)]
pub enum Button {
    Succeed,
    Fail,
}

/// When the gateway lets a decision happen.
#[derive(Debug, Clone, Copy)]
pub enum When {
    Now,
    FailedPageFirst,
    AfterClose,
}

/// How the gateway misbehaves.
#[derive(Debug, Clone)]
pub struct Switches {
    when: When,
    delay_s: u32,
    copies: u32,
    reorder: bool,
    wrong_signature: bool,
    stale_timestamp: bool,
    wrong_amount: bool,
    faulty_attempts: u32,
    refund_answer: &'static str,
    refund_times: u32,
    refund_delay_s: u32,
}

impl Switches {
    /// The cashier's form.
    pub fn form(&self, button: Button) -> Vec<(&'static str, String)> {
        let outcome = match button {
            Button::Succeed => "succeed",
            Button::Fail => "fail",
        };
        let mut form = vec![
            ("outcome", outcome.to_owned()),
            ("delay_s", self.delay_s.to_string()),
            ("copies", self.copies.to_string()),
            ("faulty_attempts", self.faulty_attempts.to_string()),
            ("refund_answer", self.refund_answer.to_owned()),
            ("refund_times", self.refund_times.to_string()),
            ("refund_delay_s", self.refund_delay_s.to_string()),
        ];
        let boxes = [
            ("reorder", self.reorder),
            ("wrong_signature", self.wrong_signature),
            ("stale_timestamp", self.stale_timestamp),
            ("wrong_amount", self.wrong_amount),
            ("failed_page", matches!(self.when, When::FailedPageFirst)),
            ("after_close", matches!(self.when, When::AfterClose)),
        ];
        let ticked = boxes.into_iter().filter(|(_, ticked)| *ticked);
        form.extend(ticked.map(|(name, _)| (name, "on".to_owned())));
        form
    }
}

pub fn lives(acts: usize) -> impl Strategy<Value = Life> {
    vec(act(), acts)
}

fn act() -> impl Strategy<Value = Act> {
    let button = prop_oneof![3 => Just(Button::Succeed), 2 => Just(Button::Fail)];
    let tickets = prop_oneof![Just(Tickets::First), Just(Tickets::All)];
    prop_oneof![
        4 => Just(Act::Nothing),
        6 => (button.clone(), switches()).prop_map(|(button, how)| Act::Press(button, how)),
        1 => (button, switches()).prop_map(|(button, how)| Act::PressInOldTab(button, how)),
        1 => Just(Act::GiveUp),
        3 => Just(Act::GetTime),
        2 => tickets.prop_map(Act::GiveBack),
    ]
}

/// Mostly at rest, so that each switch also meets an otherwise healthy gateway.
fn switches() -> impl Strategy<Value = Switches> {
    let when = prop_oneof![
        6 => Just(When::Now),
        1 => Just(When::FailedPageFirst),
        2 => Just(When::AfterClose),
    ];
    let delay_s = prop_oneof![5 => Just(0), 2 => 1..20_u32, 2 => 20..=600_u32];
    let copies = prop_oneof![5 => Just(1), 1 => 2..=4_u32];
    let faults = (
        weighted(0.15),
        weighted(0.15),
        weighted(0.15),
        weighted(0.15),
        faulty_attempts(),
    );
    let refunds = option::weighted(0.5, refund_trouble())
        .prop_map(|trouble| trouble.unwrap_or(("accept", 1, 0)));
    (when, delay_s, copies, faults, refunds).prop_map(|(when, delay_s, copies, faults, refunds)| {
        let (reorder, wrong_signature, stale_timestamp, wrong_amount, faulty_attempts) = faults;
        let (refund_answer, refund_times, refund_delay_s) = refunds;
        Switches {
            when,
            delay_s,
            copies,
            reorder,
            wrong_signature,
            stale_timestamp,
            wrong_amount,
            faulty_attempts,
            refund_answer,
            refund_times,
            refund_delay_s,
        }
    })
}

/// A few attempts carry the faults, or all that a notice ever has: then only asking tells of it.
fn faulty_attempts() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1..=4_u32, 1 => Just(1_000)]
}

/// An answer to refunds, how many get it, and how long each takes, in seconds.
fn refund_trouble() -> impl Strategy<Value = (&'static str, u32, u32)> {
    let answer = prop_oneof![Just("accept"), Just("refuse"), Just("fail")];
    let delay_s = prop_oneof![Just(0), 1..=300_u32];
    (answer, 1..=3_u32, delay_s)
}
