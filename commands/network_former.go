package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReportFormerSubnets reports what a reading of the router says about the former subnets of a service: whether devices
// still have leases or sessions with addresses of one. Fails: service_not_found.
type ReportFormerSubnets struct {
	ServiceID id.Service
	RunID     id.Run
	Used      bool
	Again     time.Duration // time after which to look again, such as the longest lease's; 0 = not known
	Due       bool          // the reading was asked for because nobody should use them any more
}

func (ReportFormerSubnets) CommandName() string { return "network.ReportFormerSubnets" }
func (c ReportFormerSubnets) Target() Target    { return At(ServiceCategory, c.ServiceID) }

// Validate checks form.
func (c ReportFormerSubnets) Validate() error {
	var f failure.Faults
	f.Check(!c.ServiceID.IsZero(), "serviceId", "is required")
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	f.Check(c.Again >= 0, "again", "must not be negative")
	return f.Err()
}

func (ReportFormerSubnets) serviceCommand() {}
