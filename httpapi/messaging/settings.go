package messagingapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// Settings serves /settings/messages.
type Settings struct{ Cases messagingcases.Settings }

// Routes lists the endpoints of the settings about messages.
func (a Settings) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "GET", Path: "/settings/messages", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "Read the texts of messages", Response: messageSettingsResponse{}, Handle: a.send,
		},
		{
			Method: "PUT", Path: "/settings/messages", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Change the texts of messages", Request: messageSettingsRequest{},
			Response: messageSettingsResponse{}, Handle: a.put,
		},
	}
}

// messageTexts are those of one message. A text that is empty is not sent.
type messageTexts struct {
	SMS      string    `json:"sms"`
	Email    mailTexts `json:"email"`
	WhatsApp string    `json:"whatsApp,omitempty" doc:"name of an approved text, and the words of its places in order"`
}

// mailTexts are those of an e-mail.
type mailTexts struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// quietHours are local times of day as HH:MM.
type quietHours struct {
	From string `json:"from"`
	To   string `json:"to" doc:"before from = on the next day"`
}

// textsByName are those of all messages in one language.
type textsByName map[string]messageTexts

// messageSettingsRequest changes the parts that are given. Texts replace all of their language: a message that is left
// out has the usual ones.
type messageSettingsRequest struct {
	Language     *events.Language                `json:"language,omitempty" doc:"of most customers"`
	Templates    textsByName                     `json:"templates,omitempty" doc:"in that language, by message"`
	Translations map[events.Language]textsByName `json:"translations,omitempty" doc:"in the other languages"`
	QuietHours   *quietHours                     `json:"quietHours,omitempty" doc:"null = never"`
}

// messageSettingsResponse has all texts as they hold (docs/rules/messaging.md#templates).
type messageSettingsResponse struct {
	Language     events.Language                 `json:"language"`
	Templates    textsByName                     `json:"templates"`
	Translations map[events.Language]textsByName `json:"translations"`
	QuietHours   *quietHours                     `json:"quietHours"`
	Words        map[string][]string             `json:"words" doc:"that texts may have in braces"`
	Usual        map[events.Language]textsByName `json:"usual" doc:"of messages that are left out"`
}

// put changes settings. They are read from the log, so that the answer shows them at once.
func (a Settings) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[messageSettingsRequest](c)
	if err != nil {
		return err
	}
	change := messagingcases.SettingsChange{Language: in.Language}
	if in.Templates != nil {
		change.Templates = templatesOf(in.Templates)
	}
	for language, list := range in.Translations {
		if change.Translations == nil {
			change.Translations = map[events.Language]messagingcases.Templates{}
		}
		change.Translations[language] = templatesOf(list)
	}
	if in.QuietHours != nil || c.Nulls()["quietHours"] {
		quiet, err := in.QuietHours.read()
		if err != nil {
			return err
		}
		change.Quiet = &quiet
	}
	if _, err := a.Cases.Set(ctx, c.Asked(), change); err != nil {
		return err
	}
	return a.send(ctx, c)
}

// read parses the hours; nil = never.
func (q *quietHours) read() (*events.QuietHours, error) {
	if q == nil {
		return nil, nil
	}
	var f failure.Faults
	from, err := calendar.ParseTimeOfDay(q.From)
	f.Check(err == nil, "quietHours.from", "must have times of day as HH:MM from 00:00 to 24:00, not %q", q.From)
	to, err := calendar.ParseTimeOfDay(q.To)
	f.Check(err == nil, "quietHours.to", "must have times of day as HH:MM from 00:00 to 24:00, not %q", q.To)
	return &events.QuietHours{From: from, To: to}, f.Err()
}

// templatesOf are the texts in the form of the use case.
func templatesOf(list textsByName) messagingcases.Templates {
	all := messagingcases.Templates{}
	for name, t := range list {
		all[events.MessageTemplate(name)] = events.MessageTexts{
			SMS: t.SMS, Subject: t.Email.Subject, Text: t.Email.Text, WhatsApp: t.WhatsApp,
		}
	}
	return all
}

// send answers with the present settings and their revision. They have an ETag also before anybody has set any.
func (a Settings) send(ctx context.Context, c *httpapi.Call) error {
	s, err := a.Cases.Read(ctx, c.Org.ID)
	if err != nil {
		return err
	}
	if s.Revision == commands.NoRevision {
		c.SetNoRevision()
	} else {
		c.SetRevision(s.Revision)
	}
	out := messageSettingsResponse{
		Language: s.Language, Templates: showTemplates(s.Templates[s.Language]),
		Translations: map[events.Language]textsByName{}, Words: map[string][]string{},
		Usual: map[events.Language]textsByName{},
	}
	for _, language := range events.Languages() {
		out.Usual[language] = showTemplates(messagingcases.UsualTemplates(language))
		if language != s.Language {
			out.Translations[language] = showTemplates(s.Templates[language])
		}
	}
	for _, name := range events.Templates() {
		out.Words[string(name)] = name.Words()
	}
	if s.Quiet != nil {
		out.QuietHours = &quietHours{s.Quiet.From.String(), s.Quiet.To.String()}
	}
	return c.Send(200, out)
}

// showTemplates writes texts by message.
func showTemplates(all messagingcases.Templates) textsByName {
	out := textsByName{}
	for name, t := range all {
		out[string(name)] = messageTexts{
			SMS: t.SMS, Email: mailTexts{t.Subject, t.Text}, WhatsApp: t.WhatsApp,
		}
	}
	return out
}
