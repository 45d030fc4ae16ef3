package cpe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// One file and one campaign of these tests.
var (
	image = events.CpeFirmwareFile{
		Filename: "box-2.0.bin", OUI: "00AABB", ProductClass: "ONT", Version: "2.0", Bytes: 5,
		SHA256: strings.Repeat("ab", 32),
	}
	record = commands.RecordCpeFirmware{CpeFirmwareUpload: commands.CpeFirmwareUpload{
		FirmwareID: commands.CpeFirmwareOf(acme, image.Filename), OrgID: acme, File: image,
	}}
	starts = commands.BeginCpeFirmware{CpeFirmwareUpload: record.CpeFirmwareUpload, Place: 3}
	begun  = events.CpeFirmwareBegun{
		FirmwareID: record.FirmwareID, OrgID: acme, File: image, StoredAs: record.StoredAs(), Place: 3, At: now,
	}
	stored = events.CpeFirmwareStored{
		FirmwareID: record.FirmwareID, OrgID: acme, File: image, StoredAs: record.StoredAs(), At: now,
	}
	campaign = id.Derive[id.CPECampaign]("test", "campaign")
	terms    = events.CpeCampaignTerms{AtOnce: 10, Timezone: "Africa/Nairobi", Deadline: now.Add(time.Hour)}
	deploy   = commands.StartCpeCampaign{
		CampaignID: campaign, OrgID: acme, FirmwareID: record.FirmwareID, Filename: image.Filename, Version: "2.0",
		Model: "Box", CpeIDs: []id.CPE{box}, Terms: terms,
	}
	deployed = events.CpeCampaignStarted{
		CampaignID: campaign, OrgID: acme, FirmwareID: record.FirmwareID, Filename: image.Filename, Version: "2.0",
		Model: "Box", Matched: 1, Terms: terms, At: now,
	}
	listed    = events.CpeCampaignDevicesListed{CampaignID: campaign, OrgID: acme, CpeIDs: []id.CPE{box}, At: now}
	stopped   = events.CpeCampaignStopped{CampaignID: campaign, OrgID: acme, Succeeded: 3, Failed: 2, At: now}
	continued = events.CpeCampaignContinued{CampaignID: campaign, OrgID: acme, At: now}
	halted    = events.CpeCampaignHalted{CampaignID: campaign, OrgID: acme, At: now}
	finished  = events.CpeCampaignFinished{CampaignID: campaign, OrgID: acme, At: now}
)

func TestFirmware_IsRecordedOnceUnderEachName(t *testing.T) {
	t.Parallel()
	file := func(
		list ...events.CpeFirmwareEvent,
	) *decidertest.Scenario[cpe.Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent] {
		return decidertest.For(t, cpe.FirmwareFiles(), now).Given(list...)
	}
	file().When(starts).Then(begun).BelongsTo(acme, "cpe_firmware_not_found")
	file(begun).When(starts).ThenNothing()
	file(begun).When(record).Then(stored)
	file(begun, stored).When(record).ThenNothing()
	file(stored).When(starts).ThenNothing() // it is of a time before places
	file().When(record).ThenFails("cpe_firmware_not_found")
	other := starts
	other.File.Version = "2.1"
	for _, list := range [][]events.CpeFirmwareEvent{{begun}, {begun, stored}, {stored}} {
		file(list...).When(other).ThenFails("cpe_firmware_exists")
	}
}

// TestFirmware_KeepsNameAndPlaceUntilTheServerDoesNotHaveIt: an upload of before would otherwise put it back.
func TestFirmware_KeepsNameAndPlaceUntilTheServerDoesNotHaveIt(t *testing.T) {
	t.Parallel()
	file := func(
		list ...events.CpeFirmwareEvent,
	) *decidertest.Scenario[cpe.Firmware, commands.CpeFirmwareCommand, events.CpeFirmwareEvent] {
		return decidertest.For(t, cpe.FirmwareFiles(), now).Given(list...)
	}
	remove := commands.RemoveCpeFirmware{FirmwareID: record.FirmwareID}
	settle := commands.SettleCpeFirmware{FirmwareID: record.FirmwareID}
	removed := events.CpeFirmwareRemoved{
		FirmwareID: record.FirmwareID, OrgID: acme, StoredAs: record.StoredAs(), At: now,
	}
	deleted := events.CpeFirmwareDeleted{FirmwareID: record.FirmwareID, OrgID: acme, At: now}
	file().When(remove).ThenFails("cpe_firmware_not_found")
	file(stored).When(remove).Then(removed)
	file(begun).When(remove).Then(removed)
	file(begun, removed).When(remove).ThenFails("cpe_firmware_not_found")
	file(begun, removed).When(starts).ThenFails("cpe_firmware_exists")
	file(begun, removed).When(record).ThenFails("cpe_firmware_exists")
	file(begun, stored).When(settle).ThenNothing()
	file(begun, stored, removed).When(settle).Then(deleted)
	file(begun, stored, removed, deleted).When(settle).ThenNothing()
	file(begun, stored, removed, deleted).When(record).ThenFails("cpe_firmware_not_found")
	file(begun, stored, removed, deleted).When(starts).Then(begun)
	definition := cpe.FirmwareFiles()
	state := cpe.Firmware{}
	for i, e := range []events.CpeFirmwareEvent{begun, stored, removed, deleted} {
		state = definition.Evolve(state, e)
		if got := len(definition.Claims(state)); got != map[bool]int{true: 1}[i < 3] {
			t.Errorf("%T: %d claims", e, got)
		}
	}
}

// TestFirmware_IsDescribedInWordsThatGoIntoAddressesAndHeaders, and has bytes, but not too many.
func TestFirmware_IsDescribedInWordsThatGoIntoAddressesAndHeaders(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*events.CpeFirmwareFile){
		"":               func(*events.CpeFirmwareFile) {},
		"no version":     func(f *events.CpeFirmwareFile) { f.Version = "" },
		"a long version": func(f *events.CpeFirmwareFile) { f.Version = strings.Repeat("1", 129) },
		"a header":       func(f *events.CpeFirmwareFile) { f.Version = "1\r\nx: y" },
		"no maker":       func(f *events.CpeFirmwareFile) { f.OUI = "" },
		"an odd class":   func(f *events.CpeFirmwareFile) { f.ProductClass = "bóx" },
		"no bytes":       func(f *events.CpeFirmwareFile) { f.Bytes = 0 },
		"too many bytes": func(f *events.CpeFirmwareFile) { f.Bytes = commands.MaxCpeFirmware + 1 },
	} {
		c := record
		change(&c.File)
		if err := c.Validate(); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := record
	c.File.ProductClass, c.File.Bytes = "", commands.MaxCpeFirmware
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestCampaign_EndsOnceAndIsStoppedForAPerson(t *testing.T) {
	t.Parallel()
	after := func(
		list ...events.CpeCampaignEvent,
	) *decidertest.Scenario[cpe.Campaign, commands.CpeCampaignCommand, events.CpeCampaignEvent] {
		return decidertest.For(t, cpe.Campaigns(), now).Given(list...)
	}
	stop := commands.StopCpeCampaign{CampaignID: campaign, Succeeded: 3, Failed: 2}
	goOn := commands.ContinueCpeCampaign{CampaignID: campaign}
	halt, finish := commands.HaltCpeCampaign{CampaignID: campaign}, commands.FinishCpeCampaign{CampaignID: campaign}
	after().When(deploy).Then(deployed, listed).BelongsTo(acme, "cpe_campaign_not_found")
	after(deployed, listed).When(deploy).ThenNothing()
	after(deployed).When(stop).Then(stopped)
	after(deployed, stopped).When(stop).ThenNothing()
	after(deployed).When(goOn).ThenNothing()
	after(deployed, stopped).When(goOn).Then(continued)
	after(deployed, stopped).When(halt).Then(halted)
	after(deployed, halted).When(halt).ThenNothing()
	after(deployed, halted).When(goOn).ThenFails("cpe_campaign_over")
	after(deployed, halted).When(finish).ThenNothing()
	after(deployed).When(finish).Then(finished)
	after(deployed, finished).When(halt).ThenFails("cpe_campaign_over")
	after(deployed, finished).When(stop).ThenNothing()
}

// TestCampaign_ListsItsDevicesInParts: no event has all of ten thousand.
func TestCampaign_ListsItsDevicesInParts(t *testing.T) {
	t.Parallel()
	devices := make([]id.CPE, 10_000)
	for i := range devices {
		devices[i] = id.Derive[id.CPE]("test", fmt.Sprint(i))
	}
	c := deploy
	c.CpeIDs = devices[:9_000]
	c.Skipped = map[events.CpeSkipReason][]id.CPE{
		events.CpeCurrent: devices[9_000:9_600], events.CpeOtherHardware: devices[9_600:],
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	list, err := cpe.Campaigns().Decide(cpe.Campaign{}, c, now)
	if err != nil || len(list) != 1+18+2+1 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	n := 0
	for _, e := range list {
		switch e := e.(type) {
		case events.CpeCampaignStarted:
			if e.Matched != 9_600 {
				t.Errorf("matched %d", e.Matched)
			}
		case events.CpeCampaignDevicesListed:
			n += len(e.CpeIDs)
		case events.CpeCampaignDevicesSkipped:
			n += len(e.CpeIDs)
		default: // none
			t.Errorf("%T", e)
		}
	}
	if n != len(devices) {
		t.Errorf("%d devices", n)
	}
	c.CpeIDs = make([]id.CPE, commands.MaxCpeCampaignDevices)
	if c.Validate() == nil {
		t.Error("too many devices were taken")
	}
	c.CpeIDs = nil
	list, err = cpe.Campaigns().Decide(cpe.Campaign{}, c, now)
	if err != nil || list[len(list)-1] != events.CpeCampaignEvent(finished) {
		t.Errorf("without a device: %v", err)
	}
}
