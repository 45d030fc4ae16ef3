package commands

import (
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// LookupCategory begins the names of the streams of questions who had an address.
const LookupCategory = "lookup"

// LookupCommand is a command to "lookup-<id>".
//
//sumtype:decl
type LookupCommand interface {
	Command
	lookupCommand()
}

// LookUpAddress records that somebody asks who had an address, so that the audit log shows it.
type LookUpAddress struct {
	LookupID     id.Lookup
	OrgID        id.Organization
	SubscriberID id.Subscriber // who will be in the answer, zero = nobody
	Address      personal.Text
	HadAt        time.Time
}

func (LookUpAddress) CommandName() string { return "audit.LookUpAddress" }
func (LookUpAddress) lookupCommand()      {}

// Target is a stream with this one question.
func (c LookUpAddress) Target() Target { return At(LookupCategory, c.LookupID) }

// Validate requires an address and an instant.
func (c LookUpAddress) Validate() error {
	var f failure.Faults
	_, err := netip.ParseAddr(c.Address.Reveal())
	f.Check(err == nil, "address", "must be an address")
	f.Check(!c.HadAt.IsZero(), "hadAt", "is required")
	return f.Err()
}
