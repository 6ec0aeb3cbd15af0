//! The people a customer buys for: the list, and the form that adds somebody.

use crate::{
    api::attendees::{AddAttendee, RemoveAttendee},
    components::{
        error_notice::ErrorNotice,
        field::Field,
        post::{Post, PostForm},
    },
    domain::attendee::{ATTENDEES_MAX, Attendee, DocumentKind, NAME_CHARS_MIN},
    error::{self, AppError},
    i18n::{
        attendees::{AttendeesText, document_kind, list_note, remove_person},
        error_text, use_lang,
    },
};
use leptos::{prelude::*, server_fn::ServerFn};

/// The section of the account's page. A form on it may lead to `next`.
#[component]
pub fn People(people: Result<Vec<Attendee>, AppError>, next: Option<String>) -> impl IntoView {
    let lang = use_lang();
    let text = AttendeesText::of(lang);
    let back = next.clone().filter(|next| next.starts_with("/shows/"));
    let list = match people {
        Ok(listed) => view! { <Listed listed next /> }.into_any(),
        Err(error) => view! { <p class="notice bad">{error_text(lang, &error)}</p> }.into_any(),
    };
    view! {
        <section id="people" class="people stack" aria-labelledby="people-title" tabindex="-1">
            <h2 id="people-title">{text.people}</h2>
            <p class="soft">{text.why}</p>
            {back.map(|href| view! { <p><a href=href>{text.back}</a></p> })}
            {list}
        </section>
    }
}

#[component]
fn Listed(listed: Vec<Attendee>, next: Option<String>) -> impl IntoView {
    let lang = use_lang();
    let text = AttendeesText::of(lang);
    let count = listed.len();
    let remove = Post::to(RemoveAttendee::PATH);
    view! {
        {(count == 0).then(|| view! { <p class="soft">{text.none_yet}</p> })}
        <ErrorNotice error=remove.error />
        <ul class="people__list">
            {listed.into_iter().map(|person| view! { <Person person remove /> }).collect_view()}
        </ul>
        <p class="soft small num">{list_note(lang, count)}</p>
        {(count < ATTENDEES_MAX).then(|| view! { <AddForm next /> })}
    }
}

#[component]
fn Person(person: Attendee, remove: Post) -> impl IntoView {
    let lang = use_lang();
    let text = AttendeesText::of(lang);
    let document = format!(
        "{} {}",
        document_kind(lang, person.document_kind),
        person.masked()
    );
    let label = remove_person(lang, &person.name);
    view! {
        <li class="person card">
            <span class="person__words">
                <b>{person.name}</b>
                <span class="soft small">{document}</span>
            </span>
            <PostForm post=remove>
                <input type="hidden" name="id" value=person.id.to_string() />
                <button class="btn quiet" aria-label=label>{text.remove}</button>
            </PostForm>
        </li>
    }
}

/// Adds a person. What is wrong stands beside the field it is about, the rest above the button.
#[component]
fn AddForm(next: Option<String>) -> impl IntoView {
    let lang = use_lang();
    let text = AttendeesText::of(lang);
    let post = Post::to(AddAttendee::PATH);
    let error = post.error;
    let fault_of = move |field: fn(&AppError) -> bool| {
        Signal::derive(move || {
            error.with(|error| {
                let error = error.as_ref().filter(|error| field(error))?;
                Some(error_text(lang, error))
            })
        })
    };
    let name_fault = fault_of(is_name);
    let number_fault = fault_of(is_number);
    let other = Signal::derive(move || {
        error.with(|error| {
            let is_beside = |error: &&AppError| is_name(error) || is_number(error);
            error.clone().filter(|error| !is_beside(&error))
        })
    });
    view! {
        <div class="people__add card">
            <h3>{text.add}</h3>
            <PostForm post=post>
                <div class="form">
                    {next.map(|next| view! { <input type="hidden" name="next" value=next /> })}
                    <Field
                        name="name"
                        label=text.name
                        kind="text"
                        autocomplete="off"
                        min_chars=NAME_CHARS_MIN
                        kept=true
                        invalid=Signal::derive(move || name_fault.with(Option::is_some))
                        fault=name_fault
                    />
                    <div class="field">
                        <label for="document_kind">{text.document}</label>
                        <select id="document_kind" name="document_kind">
                            {DocumentKind::ALL
                                .map(|kind| view! { <option value=kind.word()>{document_kind(lang, kind)}</option> })
                                .collect_view()}
                        </select>
                    </div>
                    <Field
                        name="document_number"
                        label=text.number
                        kind="text"
                        autocomplete="off"
                        hint=text.privacy
                        invalid=Signal::derive(move || number_fault.with(Option::is_some))
                        fault=number_fault
                    />
                    <ErrorNotice error=other />
                    <button class="btn primary">{text.add}</button>
                </div>
            </PostForm>
        </div>
    }
}

fn is_name(error: &AppError) -> bool {
    let field = error::Field::Name;
    *error == AppError::Invalid { field }
}

fn is_number(error: &AppError) -> bool {
    let field = error::Field::DocumentNumber;
    *error == AppError::Invalid { field } || *error == AppError::AttendeeListed
}
