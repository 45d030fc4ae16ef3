package identitycases

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// codeWords are the words of a message that differ by its purpose.
type codeWords struct {
	subject string // behind the sender
	short   string // of a text for a phone, before the code
	long    string // of an e-mail, behind the code and before the host
}

// wordsOf has them for each purpose with a code.
var wordsOf = map[vault.CodePurpose]codeWords{
	vault.CodeToSignIn: {"your code", "your code is ", "is your code for "},
	vault.CodeToAddressBefore: {
		"your code to change your address", "to have another address, your code is ",
		"is your code to have another address at ",
	},
	vault.CodeToAddressNext: {
		"your code for your new address", "for your new address, your code is ",
		"is your code for your new address at ",
	},
}

// codeText writes a message. The last line of a text for a phone lets its browser fill the code in at that host alone
// (the format of origin-bound one-time codes).
func codeText(w vault.CodeRequest, sender, host string, code secrets.Text) (subject, text string) {
	if w.Purpose == vault.NoteOfAddressChange {
		return noteText(w.Channel, sender, host)
	}
	words := wordsOf[w.Purpose]
	if w.Channel == string(events.ChannelSMS) {
		return "", sender + ": " + words.short + code.Reveal() + ". It is valid for 5 minutes. We never ask you for " +
			"it.\n\n@" + host + " #" + code.Reveal()
	}
	return sender + ": " + words.subject, "Hello,\n\n" + code.Reveal() + " " + words.long + host +
		". It is valid for 5 minutes.\n\nWe never ask you for it. If you did not ask for it, somebody may have typed " +
		"your address by mistake.\n" + sender + "\n"
}

// noteText tells the address of before that another one is in use.
func noteText(channel, sender, host string) (subject, text string) {
	says := "The address of your sign-in at " + host + " was changed. If you did not do it, tell " + sender +
		" at once."
	if channel == string(events.ChannelSMS) {
		return "", sender + ": " + says
	}
	return sender + ": your address was changed", "Hello,\n\n" + says + "\n" + sender + "\n"
}
