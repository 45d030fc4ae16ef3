package commands

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// MessageSettingsCategory begins the names of the streams of settings about messages; the id is the organization's.
const MessageSettingsCategory = "messagesettings"

// Bounds on texts of messages, in characters. The first is three parts of an SMS.
const (
	maxSMSText   = 480
	maxMailTitle = 150
	maxMailText  = 2000
	wordsAllowed = "has {%s}, which has no value here: there are %s"
	braceAlone   = "has a brace that belongs to no word"
)

// MessageSettingsCommand is a command to the settings of an organization about messages.
//
//sumtype:decl
type MessageSettingsCommand interface {
	Command
	messageSettingsCommand()
}

// SetMessageSettings replaces all settings of an organization about messages.
type SetMessageSettings struct {
	OrgID    id.Organization
	Language events.Language
	Texts    map[events.Language]map[events.MessageTemplate]events.MessageTexts
	Quiet    *events.QuietHours // nil = never
}

func (SetMessageSettings) CommandName() string { return "messaging.SetMessageSettings" }

func (c SetMessageSettings) Target() Target { return At(MessageSettingsCategory, c.OrgID) }

func (SetMessageSettings) messageSettingsCommand() {}

// Validate checks form. Faults name the text, such as "templates.invoice.sms" for one in the usual language and
// "translations.sw.invoice.email.text" for another.
func (c SetMessageSettings) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Language.Known(), "language", "must be one of %s", listed(events.Languages()))
	if q := c.Quiet; q != nil {
		f.Check(q.From != q.To, "quietHours", "must not begin and end at the same time")
	}
	all := []error{nil}
	for _, language := range slices.Sorted(maps.Keys(c.Texts)) {
		path := "templates."
		if language != c.Language {
			path = "translations." + string(language) + "."
		}
		if !language.Known() {
			f.Add("translations", "must be in %s", listed(events.Languages()))
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(c.Texts[language])) {
			if !slices.Contains(events.Templates(), name) {
				f.Add(strings.TrimSuffix(path, "."), "has no message %q", string(name))
				continue
			}
			err := CheckMessageTexts(name, c.Texts[language][name])
			all = append(all, failure.Under(path+string(name)+".", err))
		}
	}
	all[0] = f.Err()
	return failure.JoinFaults(all...)
}

// approvedForm has the name of a text that WhatsApp has approved, and words.
var approvedForm = regexp.MustCompile(`^[a-z0-9_]+( \{[^{} ]+\})*$`)

// listed writes words one after the other.
func listed[T ~string](words []T) string {
	var list []string
	for _, w := range words {
		list = append(list, string(w))
	}
	return strings.Join(list, ", ")
}

// CheckMessageTexts checks the form of the texts of one message: they name no word that it has no value for.
func CheckMessageTexts(of events.MessageTemplate, t events.MessageTexts) error {
	var f failure.Faults
	text := func(field, text string, limit int, multiline bool) {
		f.Check(utf8.RuneCountInString(text) <= limit, field, "must be at most %d characters", limit)
		if multiline {
			checkLines(&f, field, text)
		} else {
			checkLine(&f, field, text)
		}
		rest := events.FillWords(text, func(word string) string {
			f.Check(slices.Contains(of.Words(), word), field, wordsAllowed, word, strings.Join(of.Words(), ", "))
			return ""
		})
		f.Check(!strings.ContainsAny(rest, "{}"), field, braceAlone)
	}
	text("sms", t.SMS, maxSMSText, true)
	text("email.subject", t.Subject, maxMailTitle, false)
	text("email.text", t.Text, maxMailText, true)
	text("whatsApp", t.WhatsApp, maxSMSText, false)
	f.Check(t.WhatsApp == "" || approvedForm.MatchString(t.WhatsApp), "whatsApp",
		"must be the name of an approved text, and its words: invoice_due {amount} {due}")
	f.Check((t.Subject == "") == (t.Text == ""), "email", "must have a subject and a text, or neither")
	if of.AboutSignIn() {
		f.Check(t.WhatsApp == "", "whatsApp", "must be empty: messages about sign-ins do not go there")
		f.Check(t.SMS != "", "sms", "must have a text: people wait for it to sign in")
		f.Check(t.Text != "", "email.text", "must have a text: people wait for it to sign in")
	}
	if of.HasCode() {
		f.Check(strings.Contains(t.SMS, "{otp}"), "sms", "must have {otp}, the code")
		f.Check(strings.Contains(t.Text, "{otp}"), "email.text", "must have {otp}, the code")
		f.Check(!strings.Contains(t.Subject, "{otp}"), "email.subject", "must not have {otp}: locked screens show it")
		checkCodeText(&f, "sms", t.SMS)
		checkCodeText(&f, "email.text", t.Text)
	}
	return f.Err()
}

// Forms of words in a text with a code: the code with nothing but signs of a sentence at it, and what programs that
// show messages make a link of. A word that is filled in counts as a letter.
var (
	codeAlone = regexp.MustCompile(`^["'(«#:]*\{otp\}["')»,.;:!?]*$`)
	filledIn  = regexp.MustCompile(`\{[^{}]*\}`)
	linkLike  = regexp.MustCompile(`(?i)://|^["'(«]*www[.。．｡]|[\p{L}\p{N}][.。．｡]\p{L}{2,}|\d+(\.\d+){3}`)
)

// checkCodeText checks that a text carries its code to nobody but its reader: a link with the code in it would be
// opened by whoever previews messages, and the code proves an address on the whole platform.
func checkCodeText(f *failure.Faults, field, text string) {
	for _, word := range strings.Fields(text) {
		f.Check(!strings.Contains(word, "{otp}") || codeAlone.MatchString(word), field,
			"must have {otp} as a word of its own")
		f.Check(!linkLike.MatchString(filledIn.ReplaceAllString(word, "x")), field,
			"must have no address of the internet but {host}: nobody is to take the code elsewhere")
	}
}
