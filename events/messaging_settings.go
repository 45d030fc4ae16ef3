package events

import (
	"regexp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// MessageSettingsEvent is an event of "messagesettings-<organization id>": what an organization tells its customers,
// in which words, and when it is quiet.
//
//sumtype:decl
type MessageSettingsEvent interface {
	Event
	messageSettingsEvent()
}

// Language is that of a message; its words are those of the API.
type Language string

// The languages in which messages have texts of their own.
const (
	English Language = "en"
	Swahili Language = "sw"
)

// Languages lists all of them, the usual one first.
func Languages() []Language { return []Language{English, Swahili} }

// Known reports whether there are texts in the language.
func (l Language) Known() bool { return slices.Contains(Languages(), l) }

// Texts implements httpapi.Enumerated: all languages.
func (Language) Texts() []string { return []string{string(English), string(Swahili)} }

// MessageTexts has the texts of a message for each channel. Words in braces, such as {amount}, are replaced by values.
// What is empty is not sent.
type MessageTexts struct {
	SMS     string `json:"sms,omitempty"`
	Subject string `json:"subject,omitempty"` // of the e-mail
	Text    string `json:"text,omitempty"`    // of the e-mail
	// WhatsApp is the name of a text that WhatsApp has approved, and the words of its places in their order, such as
	// "invoice_due {amount} {due}".
	WhatsApp string `json:"whatsApp,omitempty"`
}

// messageWord is a word in braces.
var messageWord = regexp.MustCompile(`\{([^{}]*)\}`)

// FillWords replaces each word in braces of a text of a message.
func FillWords(text string, by func(word string) string) string {
	return messageWord.ReplaceAllStringFunc(text, func(found string) string { return by(found[1 : len(found)-1]) })
}

// Empty reports whether nothing is sent by a channel.
func (t MessageTexts) Empty(c MessageChannel) bool {
	switch c {
	case ChannelSMS:
		return t.SMS == ""
	case ChannelWhatsApp:
		return t.WhatsApp == ""
	case ChannelEmail:
	}
	return t.Text == ""
}

// QuietHours is a time of the local day in which nothing is sent that can wait. From may be later than To: it then goes
// over midnight.
type QuietHours struct {
	From calendar.TimeOfDay `json:"from"`
	To   calendar.TimeOfDay `json:"to"`
}

// MessageSettingsSet records all settings of an organization about messages; they replace those before.
type MessageSettingsSet struct {
	OrgID    id.Organization `json:"orgId"`
	Language Language        `json:"language"` // of customers for whom no other one is known
	// Texts are those that the organization has written itself; others are the usual ones.
	Texts map[Language]map[MessageTemplate]MessageTexts `json:"texts,omitempty"`
	Quiet *QuietHours                                   `json:"quietHours,omitempty"` // nil = never
	At    time.Time                                     `json:"at"`
}

func (MessageSettingsSet) EventType() string { return "messaging.MessageSettingsSet.v1" }

func (MessageSettingsSet) messageSettingsEvent() {}
