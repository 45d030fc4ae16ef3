package messagingcases

import "github.com/lastmile-isp/lastmile/events"

// phrasing has the parts of sentences that the program puts in the place of words.
type phrasing struct {
	day           string // form of a day
	pay, paybill  string // how to pay: at a page, and at a paybill
	slower, stops string // what happens when a cap is used
	until         string // up to when a service is paid
	owed, left    string // what is still due, and what stays on the account
	noNumber      string // in the place of a receipt number that nobody knows yet; also texts of organizations have it
}

// phrases are those of each language.
var phrases = map[events.Language]phrasing{
	events.English: {
		day: "2 Jan 2006",
		pay: "Pay: {link}", paybill: "Paybill {shortcode} or {link}", slower: "is slower", stops: "stops",
		until: "Paid until {until}.", owed: "{amount} is still due.", left: "{amount} stays on your account.",
		noNumber: "number pending",
	},
	events.Swahili: {
		day: "02/01/2006",
		pay: "Lipa: {link}", paybill: "Paybill {shortcode} au {link}", slower: "itakuwa ya polepole",
		stops: "itasimama",
		until: "Imelipiwa hadi {until}.", owed: "Deni {amount}.", left: "Salio {amount}.",
		noNumber: "namba inasubiriwa",
	},
}
