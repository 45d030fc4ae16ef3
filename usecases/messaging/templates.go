package messagingcases

import (
	"fmt"
	"maps"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
)

// Templates are those of an organization in one language by name. A word in their texts that has no value breaks a
// template.
type Templates map[events.MessageTemplate]events.MessageTexts

// UsualTemplates are those in a language that hold until an organization writes its own. Texts for phones fit into one
// message of 160 characters with usual names. Reminders promise nothing for a payment, because a blocked customer has
// them, too.
func UsualTemplates(in events.Language) Templates {
	if in == events.Swahili {
		return swahiliTemplates()
	}
	return englishTemplates()
}

// englishTemplates are the English ones.
func englishTemplates() Templates {
	all := paymentTemplates()
	maps.Copy(all, outageTemplates())
	maps.Copy(all, signInTemplates())
	all[events.NoticeIssued] = events.MessageTexts{
		SMS:     "{org}: invoice {number} of {amount} for account {account}, due on {due}. {pay}",
		Subject: "{org}: invoice {number}",
		Text: "Dear customer,\n\nthis is invoice {number} of {amount} for account {account}. It is due on {due}.\n\n" +
			"{pay}\n{org}\n",
	}
	all[events.NoticeReceipt] = events.MessageTexts{
		SMS:     "{org}: {amount} received for account {account}, {code}. {until} {rest}",
		Subject: "{org}: {amount} received",
		Text: "Dear customer,\n\nthank you: we have received {amount} for account {account}. Receipt: {code}.\n\n" +
			"{until} {rest}\n{org}\n",
	}
	all[events.NoticeSupport] = events.MessageTexts{
		SMS:     "{org}: we have answered your support request. Read it at {portal}",
		Subject: "{org}: we have answered your support request",
		Text: "Dear customer,\n\nwe have answered your support request for account {account}. Read it, and write " +
			"back, at\n\n{portal}\n\n{org}\n",
	}
	all[events.NoticeInvoice] = events.MessageTexts{
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

// signInTemplates are the English ones about sign-ins.
func signInTemplates() Templates {
	return Templates{
		events.CodeToSignIn: {
			SMS:     "{org}: your code is {otp}. It is valid for 5 minutes. We never ask you for it.",
			Subject: "{org}: your code",
			Text: "Hello,\n\n{otp} is your code for {host}. It is valid for 5 minutes.\n\nWe never ask you for it. " +
				"If you did not ask for it, somebody may have typed your address by mistake.\n{org}\n",
		},
		events.CodeOfAddress: {
			SMS:     "{org}: your code for another address is {otp}. Valid for 5 minutes. We never ask you for it.",
			Subject: "{org}: your code for another address",
			Text: "Hello,\n\n{otp} is your code to sign in with another address at {host}. It is valid for 5 " +
				"minutes.\n\nWe never ask you for it. If you did not ask for it, somebody may have typed your " +
				"address by mistake.\n{org}\n",
		},
		events.AddressChanged: {
			SMS:     "{org}: the address of your sign-in at {host} was changed. If you did not do it, tell us at once.",
			Subject: "{org}: your address was changed",
			Text: "Hello,\n\nthe address of your sign-in at {host} was changed. If you did not do it, tell us at " +
				"once.\n{org}\n",
		},
	}
}

// addMore ends the e-mails about a cap.
const addMore = "\n\nTo add more before then, contact us with your account number {account}.\n{org}\n"

// fill replaces the words in braces by values. Where a value is empty, no spaces are left around it.
func fill(text string, values map[string]string) (string, error) {
	var unknown []string
	out := events.FillWords(text, func(word string) string {
		value, ok := values[word]
		if !ok {
			unknown = append(unknown, word)
		}
		return value
	})
	if len(unknown) > 0 {
		return "", fmt.Errorf("template: there is no value for {%s}", unknown[0])
	}
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), nil
}

// approved has the values of an approved text for WhatsApp, whose words have values.
func approved(t events.MessageTexts, in events.Language, values map[string]string) Approved {
	words := strings.Fields(t.WhatsApp)
	if len(words) == 0 {
		return Approved{}
	}
	of := Approved{Name: words[0], Language: in}
	for _, word := range words[1:] {
		of.Values = append(of.Values, values[strings.Trim(word, "{}")])
	}
	return of
}

// render fills the texts for a channel; the subject is empty but for e-mail. It fails for a broken template.
func render(
	t events.MessageTexts, c events.MessageChannel, values map[string]string,
) (subject, text string, err error) {
	switch c {
	case events.ChannelSMS:
		text, err = fill(t.SMS, values)
		return "", text, err
	case events.ChannelWhatsApp:
		text, err = fill(t.WhatsApp, values)
		return "", text, err
	case events.ChannelEmail:
	}
	if subject, err = fill(t.Subject, values); err != nil {
		return "", "", err
	}
	text, err = fill(t.Text, values)
	return subject, text, err
}
