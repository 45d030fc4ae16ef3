package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/loginname"
)

// ImportSourceRouter is the source of an import whose customers a router knew: passwords come from a proposal.
const ImportSourceRouter = "router"

// ValidUsername reports whether a customer may have a name on the network.
func ValidUsername(text string) bool { return loginname.Fault(text) == "" }

// ValidAddresses reports whether a customer may have addresses that NormalAddresses has read.
func ValidAddresses(a ServiceAddresses) bool {
	var f failure.Faults
	checkAddresses(&f, a)
	return len(f) == 0
}

// ValidContactPhone reports whether a text, in the form of NormalizeContactPhone, is a phone number.
func ValidContactPhone(text string) bool { return inputtext.PhoneFault(text) == "" }

// ValidStaticIP reports whether a customer may have an address of the network for good.
func ValidStaticIP(text string) bool { return usableIP(text) }

// ErrNoProposal is the failure for a proposal that is no longer kept, never was, or is another organization's.
func ErrNoProposal() error {
	return failure.NewNotFound("proposal_not_found", "This proposal is no longer kept. Read the router again.")
}
