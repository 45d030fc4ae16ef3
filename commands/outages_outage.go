package commands

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Categories of the streams of outages of the network, and of the rules about them, whose id is the organization's.
const (
	LineOutageCategory  = "outage"
	OutageRulesCategory = "outagerules"
)

// LineOutageCommand acts on one outage of the network.
//
//sumtype:decl
type LineOutageCommand interface {
	Command
	lineOutageCommand()
}

// BeginOutage says that customers have no service since an instant. The caller has made sure that the organization has
// the place. Fails: outage_exists while another outage of the same place lasts, bad_instant.
type BeginOutage struct {
	OutageID    id.Outage
	OrgID       id.Organization
	Place       events.NetworkPlace
	Devices     []id.Device
	Downs       events.RouterDowns // of those that went away at another time
	Absorbs     []id.Outage        // that are over without its routers, and go on as parts of this one
	Title       string
	Message     string
	Detected    bool
	StartedAt   time.Time
	ExpectedEnd time.Time     // zero = nobody knows
	TellAfter   time.Duration // from StartedAt on; negative = customers are not told
}

// ExtendOutage says that more routers are down because of the same thing. It changes nothing after the end. Fails:
// outage_not_found.
type ExtendOutage struct {
	OutageID id.Outage
	Root     id.Device // zero = as before
	Devices  []id.Device
	Downs    events.RouterDowns // without any, a router is down from now on
	Absorbs  []id.Outage        // that go on as parts of this one
}

// NarrowOutage says that routers are back while others are still down. It changes nothing after the end. Fails:
// outage_not_found.
type NarrowOutage struct {
	OutageID id.Outage
	Back     []RouterBack
}

// RouterBack says since when a router of an outage answers again.
type RouterBack struct {
	DeviceID id.Device
	At       time.Time
}

// AnnounceOutage has the customers of an outage told now. It changes nothing when they were told, or are by now. Fails:
// outage_not_found, outage_over.
type AnnounceOutage struct{ OutageID id.Outage }

// DescribeOutage replaces what is written about an outage, also after its end. Fails: outage_not_found, invalid_input.
type DescribeOutage struct {
	OutageID    id.Outage
	Title       string
	Message     string
	ExpectedEnd time.Time // zero = nobody knows
}

// EndOutage ends an outage; one that has ended stays so. Fails: outage_not_found, bad_instant.
type EndOutage struct {
	OutageID   id.Outage
	EndedAt    time.Time   // zero = now
	MergedInto id.Outage   // zero = it is over
	Parted     bool        // some of its routers stay down, and have an outage of their own
	Back       []id.Device // its routers that are back then
}

func (BeginOutage) CommandName() string    { return "outages.BeginOutage" }
func (ExtendOutage) CommandName() string   { return "outages.ExtendOutage" }
func (AnnounceOutage) CommandName() string { return "outages.AnnounceOutage" }
func (NarrowOutage) CommandName() string   { return "outages.NarrowOutage" }
func (DescribeOutage) CommandName() string { return "outages.DescribeOutage" }
func (EndOutage) CommandName() string      { return "outages.EndOutage" }

func (c BeginOutage) Target() Target    { return At(LineOutageCategory, c.OutageID) }
func (c ExtendOutage) Target() Target   { return At(LineOutageCategory, c.OutageID) }
func (c AnnounceOutage) Target() Target { return At(LineOutageCategory, c.OutageID) }
func (c NarrowOutage) Target() Target   { return At(LineOutageCategory, c.OutageID) }
func (c DescribeOutage) Target() Target { return At(LineOutageCategory, c.OutageID) }
func (c EndOutage) Target() Target      { return At(LineOutageCategory, c.OutageID) }

func (BeginOutage) lineOutageCommand()    {}
func (ExtendOutage) lineOutageCommand()   {}
func (AnnounceOutage) lineOutageCommand() {}
func (NarrowOutage) lineOutageCommand()   {}
func (DescribeOutage) lineOutageCommand() {}
func (EndOutage) lineOutageCommand()      {}

// Limits of what is written about an outage, in characters.
const (
	maxOutageTitle   = 80
	maxOutageMessage = 500
	maxPlaceTag      = 64
)

// Validate checks form.
func (c BeginOutage) Validate() error {
	var f failure.Faults
	f.Check(!c.OutageID.IsZero(), "outageId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	checkNetworkPlace(&f, c.Place)
	checkOutageWords(&f, c.Title, c.Message)
	f.Check(!c.StartedAt.IsZero(), "startedAt", "is required")
	f.Check(c.ExpectedEnd.IsZero() || c.ExpectedEnd.After(c.StartedAt), "expectedEnd", "must be after startedAt")
	return f.Err()
}

// checkOutageWords bounds what is written about an outage.
func checkOutageWords(f *failure.Faults, title, message string) {
	f.Check(len([]rune(title)) <= maxOutageTitle, "title", "must have at most %d characters", maxOutageTitle)
	checkLine(f, "title", title)
	f.Check(len([]rune(message)) <= maxOutageMessage, "message", "must have at most %d characters", maxOutageMessage)
	checkLine(f, "message", message)
}

// Validate checks form.
func (c DescribeOutage) Validate() error {
	var f failure.Faults
	checkOutageWords(&f, c.Title, c.Message)
	return f.Err()
}

// checkNetworkPlace requires exactly one place.
func checkNetworkPlace(f *failure.Faults, p events.NetworkPlace) {
	places := 0
	for _, is := range []bool{!p.DeviceID.IsZero(), !p.ServiceID.IsZero(), p.Tag != ""} {
		if is {
			places++
		}
	}
	f.Check(places == 1, "deviceId", "or serviceId or tag is required, and only one of them")
	f.Check(len([]rune(p.Tag)) <= maxPlaceTag, "tag", "must have at most %d characters", maxPlaceTag)
	checkLine(f, "tag", p.Tag)
}

// Validate has nothing to check: the id names the stream.
func (ExtendOutage) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (NarrowOutage) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (EndOutage) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (AnnounceOutage) Validate() error { return nil }

// OutageRulesCommand acts on the rules of an organization about outages.
//
//sumtype:decl
type OutageRulesCommand interface {
	Command
	outageRulesCommand()
}

// AdoptOutageRules replaces the rules.
type AdoptOutageRules struct {
	OrgID id.Organization
	Rules events.OutageRules
}

func (AdoptOutageRules) CommandName() string { return "outages.AdoptOutageRules" }
func (c AdoptOutageRules) Target() Target    { return At(OutageRulesCategory, c.OrgID) }
func (AdoptOutageRules) outageRulesCommand() {}

// maxTellAfter bounds how long an outage lasts before customers are told, in minutes.
const maxTellAfter = 24 * 60

// Validate checks form.
func (c AdoptOutageRules) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Rules.AfterMinutes >= 0 && c.Rules.AfterMinutes <= maxTellAfter, "afterMinutes", "must be from 0 to %d",
		maxTellAfter)
	return f.Err()
}

// ErrOutageOver is the failure for an outage of which customers are to be told after its end.
func ErrOutageOver() error {
	return failure.NewConflict("outage_over", "This outage is over. Customers are told only of one that lasts.")
}

// ErrNoOutage is the failure for an outage that does not exist or belongs to another organization.
func ErrNoOutage() error {
	return failure.NewNotFound("outage_not_found", "There is no such outage.")
}
