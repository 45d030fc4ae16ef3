package commands

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// FuseCategory begins the names of the streams of fuses.
const FuseCategory = "fuse"

// FuseCommand is a command to "fuse-<id>".
//
//sumtype:decl
type FuseCommand interface {
	Command
	fuseCommand()
}

// FuseOf derives the id: there is one for each organization and kind, however often it is blown.
func FuseOf(org id.Organization, kind string) id.Fuse {
	return id.Derive[id.Fuse]("fuse", org.String(), kind)
}

// HoldFuse stops a kind of an organization, when it was not released on the same day. It changes nothing while it is
// held.
type HoldFuse struct {
	FuseID id.Fuse // of FuseOf
	OrgID  id.Organization
	Kind   string
	Date   calendar.Date
	Count  int
	Usual  int
}

// ReleaseFuse lets a held kind go on. Fails: fuse_not_found, fuse_not_held.
type ReleaseFuse struct {
	FuseID id.Fuse
	Date   calendar.Date // today, in the organization's zone
	Reason string
}

func (HoldFuse) CommandName() string    { return "billing.HoldFuse" }
func (ReleaseFuse) CommandName() string { return "billing.ReleaseFuse" }
func (HoldFuse) fuseCommand()           {}
func (ReleaseFuse) fuseCommand()        {}
func (c HoldFuse) Target() Target       { return At(FuseCategory, c.FuseID) }
func (c ReleaseFuse) Target() Target    { return At(FuseCategory, c.FuseID) }

// Validate also checks that the fuse is that of the organization and the kind.
func (c HoldFuse) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Kind != "", "kind", "is required")
	f.Check(!c.Date.IsZero(), "date", "is required")
	f.Check(c.FuseID == FuseOf(c.OrgID, c.Kind), "fuseId", "is not of this organization and kind")
	return f.Err()
}

// Validate checks form only.
func (c ReleaseFuse) Validate() error {
	var f failure.Faults
	f.Check(!c.Date.IsZero(), "date", "is required")
	f.Check(strings.TrimSpace(c.Reason) != "", "reason", "is required")
	checkLines(&f, "reason", c.Reason)
	return f.Err()
}

// ErrNoFuse is the failure for a fuse that was never blown or belongs to another organization.
func ErrNoFuse() error { return failure.NewNotFound("fuse_not_found", "There is no such fuse.") }
