package cpeviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Each file of firmware shows what it is, who uploaded it, and whether the CPE server has it.
func TestFirmware_Story(t *testing.T) {
	t.Parallel()
	acme, jane := id.Derive[id.Organization]("test", "acme"), id.Derive[id.User]("test", "jane")
	story := projectiontest.NewStory(acme, began).With(func(m *events.Metadata) {
		m.Actor = events.Actor{Kind: events.ActorUser, ID: jane.String(), Role: "admin"}
	})
	for i, name := range []string{"box", "lost", "stored", "removing", "deleted", "back"} {
		at := began.Add(time.Duration(i) * time.Minute)
		stored := events.CpeFirmwareStored{
			FirmwareID: id.Derive[id.CPEFirmware]("test", name), OrgID: acme, StoredAs: "lastmile-acme-box.bin",
			At: at, File: events.CpeFirmwareFile{
				Filename: name + ".bin", OUI: "00AABB", ProductClass: "ONT", Version: "2.0", Bytes: 5, SHA256: "abcd",
			},
		}
		begun := events.CpeFirmwareBegun{
			FirmwareID: stored.FirmwareID, OrgID: acme, StoredAs: stored.StoredAs, Place: i + 1, At: at,
			File: stored.File,
		}
		removed := events.CpeFirmwareRemoved{
			FirmwareID: stored.FirmwareID, OrgID: acme, StoredAs: stored.StoredAs, At: at,
		}
		deleted := events.CpeFirmwareDeleted{FirmwareID: stored.FirmwareID, OrgID: acme, At: at}
		life := []events.Event{begun, stored, removed, deleted}
		switch name {
		case "box": // of a time before places
			life = []events.Event{stored}
		case "lost":
			life = life[:1]
		case "stored":
			life = life[:2]
		case "removing":
			life = life[:3]
		case "back":
			begun.File.Version, begun.At = "2.1", at.Add(time.Second)
			life = append(life, begun)
		}
		story.Add("cpefirmware-"+name, life...)
	}
	projectiontest.Check(t, cpeviews.Firmware{}, story)
}

// deployment writes the events of one campaign of the story.
type deployment struct {
	name     string
	acme     id.Organization
	campaign id.CPECampaign
}

// device is one of the devices of the story.
func device(name string) id.CPE { return id.Derive[id.CPE]("test", name) }

// starts lists devices by their names.
func (d deployment) starts(names ...string) []events.Event {
	cpes := make([]id.CPE, len(names))
	for i, name := range names {
		cpes[i] = device(name)
	}
	return []events.Event{
		events.CpeCampaignStarted{
			CampaignID: d.campaign, OrgID: d.acme, FirmwareID: id.Derive[id.CPEFirmware]("test", "box"),
			Filename: "box.bin", Version: "2.0", Model: "Box",
			Matched: len(names), At: began, Terms: events.CpeCampaignTerms{AtOnce: 2, Timezone: "UTC", Deadline: began},
		},
		events.CpeCampaignDevicesListed{CampaignID: d.campaign, OrgID: d.acme, CpeIDs: cpes, At: began},
		events.CpeCampaignDevicesSkipped{
			CampaignID: d.campaign, OrgID: d.acme, CpeIDs: []id.CPE{device("other " + d.name)},
			Reason: events.CpeOtherHardware, At: began,
		},
	}
}

// tries is an operation on a device, with its end.
func (d deployment) tries(name string, end func(events.CpeOperationSubject) events.Event) []events.Event {
	about := events.CpeOperationSubject{
		OperationID: id.Derive[id.CPEOperation]("test", d.name, name), CpeID: device(name), OrgID: d.acme,
	}
	out := []events.Event{events.CpeOperationQueued{
		CpeOperationSubject: about, Kind: events.CpeFirmware, At: began.Add(time.Minute),
		Deployed: &events.CpeDeployed{CampaignID: d.campaign},
	}}
	if end != nil {
		out = append(out, end(about))
	}
	return out
}

// fails is the end of an operation with a code.
func fails(code string) func(events.CpeOperationSubject) events.Event {
	return func(about events.CpeOperationSubject) events.Event {
		return events.CpeOperationFailed{CpeOperationSubject: about, Code: code, At: began}
	}
}

// A device of a campaign shows how far it has come and why it was skipped; it waits in one campaign at most.
func TestCampaigns_Story(t *testing.T) {
	t.Parallel()
	acme := id.Derive[id.Organization]("test", "acme")
	of := func(name string) deployment {
		return deployment{name: name, acme: acme, campaign: id.Derive[id.CPECampaign]("test", name)}
	}
	a, b, c := of("a"), of("b"), of("c")
	story := projectiontest.NewStory(acme, began).
		Add("cpecampaign-a", a.starts(
			"succeeded", "failed", "expired", "again", "current", "gone", "released", "learned", "sent", "waits",
			"left",
		)...).
		Add("cpecampaign-b", b.starts("waits", "halted", "late", "sent late")...)
	for name, end := range map[string]func(events.CpeOperationSubject) events.Event{
		"failed": fails("old_version"), "again": fails(events.CpeNotBegun), "current": fails("current"),
		"gone": fails("released"), "sent": nil,
		"succeeded": func(about events.CpeOperationSubject) events.Event {
			return events.CpeOperationConfirmed{CpeOperationSubject: about, At: began}
		},
		"expired": func(about events.CpeOperationSubject) events.Event {
			return events.CpeOperationExpired{CpeOperationSubject: about, At: began}
		},
	} {
		story.Add("cpeoperation-"+name, a.tries(name, end)...)
	}
	// The operation ends as not begun since it was looked at in the instant before the release.
	left := a.tries("left", fails(events.CpeNotBegun))
	story.Add("cpeoperation-left", left[0]).
		Add("cpe-left", events.CpeReleased{CpeID: device("left"), OrgID: acme, At: began}).
		Add("cpeoperation-left", left[1])
	story.Add("cpeoperation-late", b.tries("late", nil)...).
		Add("cpe-released", events.CpeReleased{CpeID: device("released"), OrgID: acme, At: began}).
		Add("cpe-learned", events.CpeDetailsLearned{
			CpeID: device("learned"), OrgID: acme, Details: events.CpeDetails{FirmwareVersion: "2.0"}, At: began,
		}).
		Add("cpecampaign-a", events.CpeCampaignStopped{CampaignID: a.campaign, OrgID: acme, At: began},
			events.CpeCampaignContinued{CampaignID: a.campaign, OrgID: acme, At: began}).
		Add("cpecampaign-b", events.CpeCampaignHalted{CampaignID: b.campaign, OrgID: acme, At: began}).
		Add("cpeoperation-late", fails(events.CpeNotBegun)(events.CpeOperationSubject{
			OperationID: id.Derive[id.CPEOperation]("test", "b", "late"), CpeID: device("late"), OrgID: acme,
		})).
		Add("cpecampaign-c", append(c.starts("alone"),
			events.CpeCampaignFinished{CampaignID: c.campaign, OrgID: acme, At: began})...)
	projectiontest.Check(t, cpeviews.Campaigns{}, story)
}
