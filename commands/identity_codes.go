package commands

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
)

// SendCode makes the one-time code of a wish and sends it. It holds the wish's id only: the address is in the vault,
// and the code is made when it is sent.
type SendCode struct {
	Request id.Any `json:"request"`
}

func (SendCode) Kind() string { return "identity_send_code" }

// ReadIdentifier gives the form of an address under which a person signs in by a code, and the channel on which the
// code goes: an e-mail address, or a phone number as people type it. Fails: invalid_input.
func ReadIdentifier(text string) (address, channel string, err error) {
	var f failure.Faults
	if strings.Contains(text, "@") {
		address, channel = NormalizeEmail(text), "email"
		checkEmail(&f, "identifier", address)
	} else {
		address, channel = NormalizeContactPhone(text), "sms"
		if fault := inputtext.PhoneFault(address); fault != "" {
			f.Add("identifier", "%s; or give an e-mail address", fault)
		}
	}
	return address, channel, f.Err()
}
