package paymentsapi

import (
	"net/http"
	"slices"

	"golang.org/x/text/language"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// payWords has all words of the payment page in one language.
type payWords struct {
	Lang, Name                         string // the tag, and how its own speakers call the language
	Pay, Payment                       string // before the organization's name in the title; in place of it
	Intro, Account, Send, Hint         string
	Accepted, Later, Sorry, EmptyField string // the notes
}

// payEnglish is shown to everybody who does not prefer another language of the page.
var payEnglish = &payWords{
	Lang: "en", Name: "English", Pay: "Pay", Payment: "Payment",
	Intro: "Pay for your internet here. Enter your account number or the phone number of your account. " +
		"We send a payment request to the phone that the account is registered with.",
	Account: "Account number or phone",
	Send:    "Send the payment request",
	Hint:    "The request asks for your PIN on the phone. Nobody else can see or use it.",
	// Accepted is told to everybody, so it promises nothing to a customer who is blocked, or whose cap is used up.
	Accepted: "If there is something to pay on this account, a payment request is on its way to the phone that " +
		"the account is registered with. Enter your PIN there. If your internet is off only because it was not paid, " +
		"it comes back by itself after the payment. If a Wi-Fi hotspot shows its sign-in page then, sign in again " +
		"there.",
	// Later is told when too many requests come from one address, which many customers share, or for one account.
	Later: "Too many people asked for a payment request just now. Please wait a minute and try again.",
	// Sorry is told while the database or the event store is away. It holds also when the request was taken before the
	// fault: a phone that was asked is not asked a second time while its first payment request waits.
	Sorry: "We cannot send a payment request at the moment. Please try again in a few minutes. A payment that " +
		"you have made already is not lost: it is counted as soon as we can.",
	EmptyField: "Please enter your account number or your phone number.",
}

// paySwahili says the same, and promises no more.
var paySwahili = &payWords{
	Lang: "sw", Name: "Kiswahili", Pay: "Lipa", Payment: "Malipo",
	Intro: "Lipia intaneti yako hapa. Weka namba yako ya akaunti au namba ya simu ya akaunti yako. " +
		"Tunatuma ombi la malipo kwenye simu ambayo akaunti imesajiliwa nayo.",
	Account: "Namba ya akaunti au simu",
	Send:    "Tuma ombi la malipo",
	Hint:    "Ombi linauliza PIN yako kwenye simu. Hakuna mtu mwingine anayeweza kuiona wala kuitumia.",
	Accepted: "Kama kuna cha kulipa kwenye akaunti hii, ombi la malipo linaelekea kwenye simu ambayo akaunti " +
		"imesajiliwa nayo. Weka PIN yako huko. Kama intaneti yako imezimwa kwa sababu tu haikulipiwa, itarudi " +
		"yenyewe baada ya malipo. Wi-Fi ya hotspot ikionyesha ukurasa wake wa kuingia baadaye, ingia tena hapo.",
	Later: "Watu wengi mno wameomba ombi la malipo sasa hivi. Tafadhali subiri dakika moja, kisha jaribu tena.",
	Sorry: "Kwa sasa hatuwezi kutuma ombi la malipo. Tafadhali jaribu tena baada ya dakika chache. Malipo ambayo " +
		"umeshafanya hayajapotea: yatahesabiwa mara tutakapoweza.",
	EmptyField: "Tafadhali weka namba yako ya akaunti au namba yako ya simu.",
}

// payLanguages are those of the page, in the order of payMatcher.
var payLanguages = []*payWords{payEnglish, paySwahili}

// payMatcher finds the language of payLanguages that a browser prefers: the first one when it wants neither.
var payMatcher = language.NewMatcher([]language.Tag{language.English, language.Swahili})

// wordsOf chooses the language: as the address of the page's link or form says, or else as the browser prefers. No body
// is read for it: there is none while the storage is away.
func wordsOf(c *httpapi.Call) *payWords {
	chosen := c.Request.URL.Query().Get("lang")
	for _, w := range payLanguages {
		if w.Lang == chosen {
			return w
		}
	}
	return preferred(c.Request.Header)
}

// preferred reads Accept-Language. What cannot be read says nothing.
func preferred(h http.Header) *payWords {
	_, index := language.MatchStrings(payMatcher, h.Values("Accept-Language")...)
	return payLanguages[index]
}

// others are the languages that the page links to.
func (w *payWords) others() []*payWords {
	return slices.DeleteFunc(slices.Clone(payLanguages), func(o *payWords) bool { return o == w })
}
