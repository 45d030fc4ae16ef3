package messagingcases

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
)

// Template has the texts of a message for each channel. Words in braces, such as {amount}, are replaced by values; a
// word that has no value breaks the template.
type Template struct {
	SMS     string
	Subject string // of the e-mail
	Text    string // of the e-mail
}

// Templates are those of an organization by name.
type Templates map[events.MessageTemplate]Template

// DefaultTemplates are the English ones. Texts for phones fit into one message of 160 characters with usual names.
// Reminders promise nothing for a payment, because a blocked customer has them, too.
func DefaultTemplates() Templates {
	all := paymentTemplates()
	maps.Copy(all, outageTemplates())
	all[events.NoticeInvoice] = Template{
		SMS:     "{org}: invoice {number} of {amount} for account {account}. Tax control number {control}.",
		Subject: "{org}: invoice {number}",
		Text: "Dear customer,\n\nthis is invoice {number} of {amount} for account {account}. The tax authority has " +
			"signed it with the control number {control}; look it up at\n\n{verification}\n\nWhat is due can be " +
			"paid at {link}\n{org}\n",
	}
	return all
}

// paymentTemplates are the English ones about what is to be paid, and about access and caps.
func paymentTemplates() Templates {
	return Templates{
		events.ReminderBefore: {
			SMS:     "{org}: {amount} is due on {due} for account {account}. {pay}",
			Subject: "{org}: {amount} is due on {due}",
			Text: "Dear customer,\n\nplease pay {amount} by {due} for account {account} ({plan}).\n\n{pay}\n\nIf you " +
				"have paid, thank you.\n{org}\n",
		},
		events.ReminderDue: {
			SMS:     "{org}: {amount} is due today for account {account}. {pay}",
			Subject: "{org}: {amount} is due today",
			Text: "Dear customer,\n\n{amount} for account {account} ({plan}) is due today.\n\n{pay}\n\nIf you have " +
				"paid, thank you.\n{org}\n",
		},
		events.ReminderOverdue: {
			SMS:     "{org}: {amount} was due on {due} for account {account}. Unpaid lines are stopped. {pay}",
			Subject: "{org}: {amount} is overdue",
			Text: "Dear customer,\n\n{amount} for account {account} ({plan}) was due on {due}. Please pay soon: the " +
				"internet of unpaid accounts is stopped.\n\n{pay}\n\nIf you have paid, thank you.\n{org}\n",
		},
		events.NoticeGarden: {
			SMS:     "{org}: your internet is limited, {amount} is overdue for account {account}. {pay}",
			Subject: "{org}: your internet is limited",
			Text: "Dear customer,\n\n{amount} for account {account} ({plan}) is overdue, and only the payment page " +
				"can be reached. Your internet is back by itself once you have paid.\n\n{pay}\n{org}\n",
		},
		events.NoticeSuspended: {
			SMS:     "{org}: your internet is off, {amount} is overdue for account {account}. {pay}",
			Subject: "{org}: your internet is off",
			Text: "Dear customer,\n\n{amount} for account {account} ({plan}) is overdue, and your internet is off. " +
				"It is back by itself once you have paid.\n\n{pay}\n{org}\n",
		},
		events.NoticeRestored: {
			SMS:     "{org}: thank you, the internet of account {account} is on again.",
			Subject: "{org}: your internet is on again",
			Text:    "Dear customer,\n\nthank you: the internet of account {account} ({plan}) is on again.\n{org}\n",
		},
		events.NoticeCapWarned: {
			SMS: "{org}: {used} of {allowed} used. After that your internet {then} until {resets}. To add more, " +
				"contact us with account {account}.",
			Subject: "{org}: {used} of {allowed} used",
			Text: "Dear customer,\n\n{used} of {allowed} of account {account} ({plan}) are used. When all of it is " +
				"used, your internet {then} until {resets}." + addMore,
		},
		events.NoticeCapThrottled: {
			SMS: "{org}: all {allowed} are used, and your internet is slower until {resets}. To add more, contact us " +
				"with account {account}.",
			Subject: "{org}: your internet is slower until {resets}",
			Text: "Dear customer,\n\n{used} of {allowed} of account {account} ({plan}) are used, and your internet " +
				"is slower until {resets}." + addMore,
		},
		events.NoticeCapStopped: {
			SMS: "{org}: all {allowed} are used, and your internet is stopped until {resets}. To add more, contact " +
				"us with account {account}.",
			Subject: "{org}: your internet is stopped until {resets}",
			Text: "Dear customer,\n\n{used} of {allowed} of account {account} ({plan}) are used, and your internet " +
				"is stopped until {resets}." + addMore,
		},
	}
}

// outageTemplates are the English ones about outages of the network. They say nothing about payments.
func outageTemplates() Templates {
	return Templates{
		events.NoticeOutage: {
			SMS:     "{org}: there is no internet where you are since {since}. We are working on it. {what}",
			Subject: "{org}: there is no internet where you are",
			Text: "Dear customer,\n\nthe internet of account {account} ({plan}) is down since {since}. We are " +
				"working on it, and you need not call us.\n\n{what}\n{org}\n",
		},
		events.NoticeOutageOver: {
			SMS:     "{org}: the internet of account {account} works again. We are sorry for the outage.",
			Subject: "{org}: your internet works again",
			Text: "Dear customer,\n\nthe internet of account {account} ({plan}) works again, after an outage since " +
				"{since}. We are sorry for that.\n{org}\n",
		},
	}
}

// addMore ends the e-mails about a cap.
const addMore = "\n\nTo add more before then, contact us with your account number {account}.\n{org}\n"

// placeholder is a word in braces.
var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// fill replaces the words in braces by values.
func fill(text string, values map[string]string) (string, error) {
	var unknown string
	out := placeholder.ReplaceAllStringFunc(text, func(word string) string {
		value, ok := values[strings.Trim(word, "{}")]
		if !ok && unknown == "" {
			unknown = word
		}
		return value
	})
	if unknown != "" {
		return "", fmt.Errorf("template: there is no value for %s", unknown)
	}
	return strings.TrimSpace(out), nil
}

// render fills the texts for a channel; the subject is empty for SMS. It fails for a broken template.
func (t Template) render(c events.MessageChannel, values map[string]string) (subject, text string, err error) {
	if c == events.ChannelSMS {
		text, err = fill(t.SMS, values)
		return "", text, err
	}
	if subject, err = fill(t.Subject, values); err != nil {
		return "", "", err
	}
	text, err = fill(t.Text, values)
	return subject, text, err
}
