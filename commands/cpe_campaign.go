package commands

import (
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeCampaignCategory begins the names of the streams of campaigns.
const CpeCampaignCategory = "cpecampaign"

// Limits of campaigns. Source: docs/rules/cpe.md#campaigns.
const (
	MaxCpeCampaignDevices = 20_000 // of the model; the list of their ids fits into one append
	MaxCpeAtOnce          = 100
	MaxCpeCampaignTime    = 30 * 24 * time.Hour
)

// CpeCampaignCommand acts on one campaign.
//
//sumtype:decl
type CpeCampaignCommand interface {
	Command
	cpeCampaignCommand()
}

// CpeCampaignOperation is the operation of a campaign on a CPE at a try, counted from 0.
func CpeCampaignOperation(campaign id.CPECampaign, cpe id.CPE, try int) id.CPEOperation {
	return id.Derive[id.CPEOperation]("cpe campaign", campaign.String(), cpe.String(), strconv.Itoa(try))
}

// StartCpeCampaign deploys a file. The caller has made sure that the organization has it, and has found the CPEs.
type StartCpeCampaign struct {
	CampaignID id.CPECampaign
	OrgID      id.Organization
	FirmwareID id.CPEFirmware
	Filename   string
	Version    string
	Model      string
	CpeIDs     []id.CPE                          // that are to get it
	Skipped    map[events.CpeSkipReason][]id.CPE // other CPEs of the model
	Terms      events.CpeCampaignTerms
}

// StopCpeCampaign says that too many CPEs have failed. Fails: cpe_campaign_not_found.
type StopCpeCampaign struct {
	CampaignID id.CPECampaign
	Succeeded  int
	Failed     int
}

// ContinueCpeCampaign lets a stopped campaign go on; one that runs stays as it is. Fails: cpe_campaign_not_found,
// cpe_campaign_over.
type ContinueCpeCampaign struct{ CampaignID id.CPECampaign }

// HaltCpeCampaign ends a campaign; one that was halted stays so. Fails: cpe_campaign_not_found, cpe_campaign_over.
type HaltCpeCampaign struct{ CampaignID id.CPECampaign }

// FinishCpeCampaign says that nothing of a campaign is on its way, and that nothing begins any more. Fails:
// cpe_campaign_not_found.
type FinishCpeCampaign struct{ CampaignID id.CPECampaign }

func (StartCpeCampaign) CommandName() string    { return "cpe.StartCpeCampaign" }
func (StopCpeCampaign) CommandName() string     { return "cpe.StopCpeCampaign" }
func (ContinueCpeCampaign) CommandName() string { return "cpe.ContinueCpeCampaign" }
func (HaltCpeCampaign) CommandName() string     { return "cpe.HaltCpeCampaign" }
func (FinishCpeCampaign) CommandName() string   { return "cpe.FinishCpeCampaign" }

func (c StartCpeCampaign) Target() Target    { return At(CpeCampaignCategory, c.CampaignID) }
func (c StopCpeCampaign) Target() Target     { return At(CpeCampaignCategory, c.CampaignID) }
func (c ContinueCpeCampaign) Target() Target { return At(CpeCampaignCategory, c.CampaignID) }
func (c HaltCpeCampaign) Target() Target     { return At(CpeCampaignCategory, c.CampaignID) }
func (c FinishCpeCampaign) Target() Target   { return At(CpeCampaignCategory, c.CampaignID) }

func (StartCpeCampaign) cpeCampaignCommand()    {}
func (StopCpeCampaign) cpeCampaignCommand()     {}
func (ContinueCpeCampaign) cpeCampaignCommand() {}
func (HaltCpeCampaign) cpeCampaignCommand()     {}
func (FinishCpeCampaign) cpeCampaignCommand()   {}

// Validate checks form.
func (c StartCpeCampaign) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.FirmwareID.IsZero(), "filename", "is required")
	cpeText(&f, "model", c.Model, 1, maxCpeDetail)
	devices := len(c.CpeIDs)
	for reason, list := range c.Skipped {
		f.Check(slices.Contains(events.CpeSkipReasons(), reason), "skipped", "is required")
		devices += len(list)
	}
	f.Check(devices <= MaxCpeCampaignDevices, "model", "has more than %d devices", MaxCpeCampaignDevices)
	f.Check(c.Terms.AtOnce >= 1 && c.Terms.AtOnce <= MaxCpeAtOnce, "atOnce", "must be from %d to %d", 1, MaxCpeAtOnce)
	if h := c.Terms.Hours; h != nil {
		f.Check(h.From != h.To, "hours", "must not begin and end at the same time")
	}
	f.Check(calendar.KnownZone(c.Terms.Timezone), "timezone", "is required")
	f.Check(!c.Terms.Deadline.IsZero(), "deadline", "is required")
	return f.Err()
}

// Validate checks form.
func (c StopCpeCampaign) Validate() error {
	var f failure.Faults
	f.Check(c.Succeeded >= 0, "succeeded", "must not be negative")
	f.Check(c.Failed > 0, "failed", "must be above zero")
	return f.Err()
}

// Validate has nothing to check: the id names the stream.
func (ContinueCpeCampaign) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (HaltCpeCampaign) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (FinishCpeCampaign) Validate() error { return nil }

// ErrNoCpeCampaign is the failure for an unknown campaign, and for that of another organization.
func ErrNoCpeCampaign() error {
	return failure.NewNotFound("cpe_campaign_not_found", "There is no such deployment of firmware.")
}

// ErrCpeCampaignOver is the failure of an act on a campaign that has ended.
func ErrCpeCampaignOver() error {
	return failure.NewConflict("cpe_campaign_over", "This deployment of firmware has ended.")
}
