package subscriberscases

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// What a state in a file makes of a customer.
const (
	StateActive  = "active"  // as the paid time says; nothing else stands in the way
	StateLapsed  = "lapsed"  // as the paid time says: it has run out, or the volume of a period is used
	StateBlocked = "blocked" // blocked by hand, until somebody unblocks the customer
)

// ImportStates are these, in the order in which they are shown.
var ImportStates = []string{StateActive, StateLapsed, StateBlocked}

// stateWords has the states of other systems, in small letters.
var stateWords = map[string]string{
	"active": StateActive, "on": StateActive, "enabled": StateActive, "enable": StateActive, "yes": StateActive,
	"true": StateActive, "1": StateActive, "ok": StateActive, "online": StateActive,
	"inactive": StateLapsed, "expired": StateLapsed, "limited": StateLapsed, "lapsed": StateLapsed,
	"unpaid": StateLapsed, "overdue": StateLapsed, "offline": StateLapsed,
	"banned": StateBlocked, "disabled": StateBlocked, "disable": StateBlocked, "suspended": StateBlocked,
	"blocked": StateBlocked, "no": StateBlocked, "false": StateBlocked, "0": StateBlocked, "off": StateBlocked,
}

// stateOf gives one of ImportStates for a state of a file, "" for a word that nobody knows. In PHPNuxBill's recharges
// "off" is one that has run out.
func stateOf(word, source string) string {
	word = strings.ToLower(word)
	if source == "phpnuxbill" && word == "off" {
		return StateLapsed
	}
	return stateWords[word]
}

// state reads the state of a row's customer. A word that nobody knows is a fault: whoever was banned must not be active
// here without a word.
func (r rowReader) state(out *importRow, cell func(string) string, faults *failure.Faults) {
	word := cell(colStatus)
	if word == "" {
		return
	}
	out.State = stateOf(word, r.source)
	faults.Check(out.State != "", colStatus, "must be active, expired or blocked, or a word of the same meaning")
	if out.State != "" {
		out.StateWord = strings.ToLower(word)
	}
}
