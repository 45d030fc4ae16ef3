package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CpeCampaignEvent is an event of "cpecampaign-<id>": one file of firmware goes to the CPEs of a model. What becomes of
// each CPE is told by the operation on it.
//
//sumtype:decl
type CpeCampaignEvent interface {
	Event
	cpeCampaignEvent()
}

// CpeSkipReason says why a CPE does not get the file of a campaign; its words are those of the API.
type CpeSkipReason string

// The reasons.
const (
	CpeOtherHardware CpeSkipReason = "other_hardware" // OUI or product class are not those of the file
	CpeCurrent       CpeSkipReason = "current"        // it runs the version already
	CpeOtherCampaign CpeSkipReason = "other_campaign" // it is in another campaign that has not ended
	CpeReleasedSkip  CpeSkipReason = "released"       // the organization does not have it any more
	CpeDeadline      CpeSkipReason = "deadline"       // it did not call in time
	CpeHalted        CpeSkipReason = "halted"         // somebody halted the campaign
)

// CpeSkipReasons lists the reasons in the order of their declaration.
func CpeSkipReasons() []CpeSkipReason {
	return []CpeSkipReason{
		CpeOtherHardware, CpeCurrent, CpeOtherCampaign, CpeReleasedSkip, CpeDeadline, CpeHalted,
	}
}

// CpeCampaignTerms say how a campaign goes.
type CpeCampaignTerms struct {
	AtOnce   int             `json:"atOnce"`          // so many CPEs have the file on its way at the same time
	Hours    *calendar.Hours `json:"hours,omitempty"` // in which it begins on a CPE; nil = at any time
	Timezone string          `json:"timezone"`        // of the hours
	Deadline time.Time       `json:"deadline"`        // from then on it begins on no CPE
}

// CpeCampaignStarted records that somebody deploys a file.
type CpeCampaignStarted struct {
	CampaignID id.CPECampaign   `json:"campaignId"`
	OrgID      id.Organization  `json:"orgId"`
	FirmwareID id.CPEFirmware   `json:"firmwareId"`
	Filename   string           `json:"filename"`
	Version    string           `json:"version"`
	Model      string           `json:"model"`
	Matched    int              `json:"matched"` // CPEs of the model that the file is for
	Terms      CpeCampaignTerms `json:"terms"`
	At         time.Time        `json:"at"`
}

// CpeCampaignDevicesListed records some of the CPEs that are to get the file. It is one of several.
type CpeCampaignDevicesListed struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	CpeIDs     []id.CPE        `json:"cpeIds"`
	At         time.Time       `json:"at"`
}

// CpeCampaignDevicesSkipped records some of the CPEs of the model that do not get the file. It is one of several.
type CpeCampaignDevicesSkipped struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	Reason     CpeSkipReason   `json:"reason"`
	CpeIDs     []id.CPE        `json:"cpeIds"`
	At         time.Time       `json:"at"`
}

// CpeCampaignStopped records that too many CPEs have failed: nothing begins until a person continues.
type CpeCampaignStopped struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	Succeeded  int             `json:"succeeded"` // since the start, or since a person continued last
	Failed     int             `json:"failed"`    // the same
	At         time.Time       `json:"at"`
}

// CpeCampaignContinued records that a person lets a stopped campaign go on. Failures are counted anew.
type CpeCampaignContinued struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	At         time.Time       `json:"at"`
}

// CpeCampaignHalted records that a person ended a campaign. CPEs that have the file already go on to their end.
type CpeCampaignHalted struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	At         time.Time       `json:"at"`
}

// CpeCampaignFinished records that no CPE waits any more, or that the deadline has passed.
type CpeCampaignFinished struct {
	CampaignID id.CPECampaign  `json:"campaignId"`
	OrgID      id.Organization `json:"orgId"`
	At         time.Time       `json:"at"`
}

func (CpeCampaignStarted) EventType() string        { return "cpe.CpeCampaignStarted.v1" }
func (CpeCampaignDevicesListed) EventType() string  { return "cpe.CpeCampaignDevicesListed.v1" }
func (CpeCampaignDevicesSkipped) EventType() string { return "cpe.CpeCampaignDevicesSkipped.v1" }
func (CpeCampaignStopped) EventType() string        { return "cpe.CpeCampaignStopped.v1" }
func (CpeCampaignContinued) EventType() string      { return "cpe.CpeCampaignContinued.v1" }
func (CpeCampaignHalted) EventType() string         { return "cpe.CpeCampaignHalted.v1" }
func (CpeCampaignFinished) EventType() string       { return "cpe.CpeCampaignFinished.v1" }

func (CpeCampaignStarted) cpeCampaignEvent()        {}
func (CpeCampaignDevicesListed) cpeCampaignEvent()  {}
func (CpeCampaignDevicesSkipped) cpeCampaignEvent() {}
func (CpeCampaignStopped) cpeCampaignEvent()        {}
func (CpeCampaignContinued) cpeCampaignEvent()      {}
func (CpeCampaignHalted) cpeCampaignEvent()         {}
func (CpeCampaignFinished) cpeCampaignEvent()       {}
