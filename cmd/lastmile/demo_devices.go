package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/simulators/acs"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// demoACSKey is the key with which the demo's CPE server asks who devices are. Everybody can read it.
const demoACSKey = secrets.Text("lastmile-demo-devices")

// demoSync is how often the demo reads its CPE server: people wait for what they have just done.
const demoSync = 5 * time.Second

// demoBox is the equipment in one customer's home. The trees take turns.
type demoBox struct {
	serial, firmware string
	customer         string // by the username; "" = it lies on a shelf, claimed for the ISP
	label, location  string
	unplugged        bool // it was switched off on the day on which it was claimed
	pending          bool // it waits to be claimed by whoever tries the demo
	mute             bool // it refuses to tell how it is, and to take firmware, which are faults
	upgrades         bool // it takes the demo's firmware
	onu              bool // it has an optical end, which is set up with the claim
}

// demoBoxes have two models, versions of different ages, one without power and one that waits to be claimed.
var demoBoxes = []demoBox{
	{serial: "DEMO000001", firmware: "2.1.0", customer: "acacia", label: "Sitting room", location: "on the cupboard"},
	{serial: "DEMO000002", firmware: "1.4.2", customer: "hibiscus", location: "above the door"},
	{serial: "DEMO000003", firmware: "2.1.0", customer: "baobab", location: "Court 3, stairs", onu: true},
	{serial: "DEMO000004", firmware: "1.3.0", customer: "cedar", upgrades: true},
	{serial: "DEMO000005", firmware: "2.0.3", customer: "dovu", location: "garage"},
	{serial: "DEMO000006", firmware: "1.4.2", customer: "fig", label: "Till"},
	{serial: "DEMO000007", firmware: "2.0.3", customer: "grevillea", label: "Reception"},
	{serial: "DEMO000008", firmware: "1.3.0", customer: "jacaranda", mute: true},
	{serial: "DEMO000009", firmware: "2.1.0", customer: "lantana", location: "behind the counter"},
	{serial: "DEMO000010", firmware: "1.3.0", customer: "kapok", location: "lodge, mast", unplugged: true},
	{serial: "DEMO000011", firmware: "2.1.0", label: "Spare", location: "shop, shelf 2"},
	{serial: "DEMO000012", firmware: "1.4.2", pending: true},
}

// startACS starts the demo's CPE server without any device. When a port is taken, all are free ones.
func startACS(ctx context.Context, c clock.Clock) (*acs.Simulator, error) {
	cfg := acs.Config{Addr: "127.0.0.1:8096", FilesAddr: "127.0.0.1:8097", Clock: c, Live: true}
	sim := acs.New(cfg)
	if err := sim.Start(context.WithoutCancel(ctx)); err == nil {
		return sim, nil
	}
	cfg.Addr, cfg.FilesAddr = "", ""
	sim = acs.New(cfg)
	return sim, sim.Start(context.WithoutCancel(ctx))
}

// withACS gives a configuration in which a simulator is the CPE server.
func (c Config) withACS(sim *acs.Simulator) Config {
	c.ACSNBIURL, c.ACSFSURL, c.ACSInternalKey = sim.URL(), sim.FilesURL(), demoACSKey
	c.CPESyncInterval, c.CPEFaultPollInterval = demoSync, demoSync
	return c
}

// plugBoxes connects the equipment of customers, which the simulator forgets at its end. Who has been claimed is known.
func (s *demoSeed) plugBoxes() error {
	for n, box := range demoBoxes {
		if box.upgrades {
			box.firmware = demoFirmware.version
		}
		at, err := s.plugBox(n, box, box.unplugged)
		if err != nil {
			return err
		}
		if err := s.acs.SetDeviceFaults(at, box.faults()); err != nil {
			return err
		}
	}
	return nil
}

// faults are those of a device that is claimed.
func (b demoBox) faults() (f acs.DeviceFaults) {
	if b.mute {
		f.Fail = map[string]string{"GetParameterValues": "9002", "Download": "9010"}
	}
	return f
}

// plugBox connects the n-th one, and gives its id at the CPE server.
func (s *demoSeed) plugBox(n int, b demoBox, off bool) (string, error) {
	box := acs.DeviceConfig{Serial: b.serial, Firmware: b.firmware, Off: off}
	if olderBox(n) {
		box.Root = "InternetGatewayDevice"
	}
	for _, d := range s.acs.Devices() {
		if d.Serial == box.Serial {
			return d.ID, nil
		}
	}
	return s.acs.AddDevice(box)
}

// olderBox reports whether the n-th device is of the older model, which has the older tree.
func olderBox(n int) bool { return n%2 == 1 }

// makeBoxes connects the equipment and claims it for the customers, but for the one that waits to be claimed.
func (s *demoSeed) makeBoxes(ctx context.Context) error {
	for n := range demoBoxes {
		if err := s.makeBox(ctx, n); err != nil {
			return fmt.Errorf("device %s: %w", demoBoxes[n].serial, err)
		}
	}
	return nil
}

// makeBox connects the n-th device, waits until it is pending, and claims it. It then tells how it is.
func (s *demoSeed) makeBox(ctx context.Context, n int) error {
	box := demoBoxes[n]
	mine, err := s.admin.call(ctx, http.MethodGet, "/cpe/devices?q="+box.serial, "", nil)
	if err != nil {
		return err
	}
	made := len(mine.list("data")) > 0 // by an earlier day, or an interrupted start
	at, err := s.plugBox(n, box, made && box.unplugged)
	if err != nil || made {
		return err
	}
	var cpe string
	err = until(ctx, "its first call", func(ctx context.Context) (bool, error) {
		page, err := s.admin.call(ctx, http.MethodGet, "/cpe/pending?serial="+box.serial, "", nil)
		if found := page.list("data"); len(found) > 0 {
			cpe = found[0].text("id")
		}
		return cpe != "", err
	})
	if err != nil || box.pending {
		return err
	}
	claim := map[string]any{"label": box.label, "location": box.location}
	if box.onu {
		claim["onu"] = demoONU.place()
	}
	if box.customer != "" {
		claim["subscriberId"] = s.accounts[box.customer].subscriber
	}
	if _, err := s.admin.call(ctx, http.MethodPost, "/cpe/pending/"+cpe+"/claim", "demo-box-"+box.serial,
		claim); err != nil {
		return err
	}
	if err := s.acs.SetDeviceFaults(at, box.faults()); err != nil {
		return err
	}
	if box.unplugged {
		return s.acs.SetPower(at, false)
	}
	return s.acs.Inform(at, "2 PERIODIC")
}

// unplugsBox claims the device without power some days before the present, so that it is stale by then.
func unplugsBox(ctx context.Context, s *demoSeed, _ *router.Simulator) error {
	for n, box := range demoBoxes {
		if box.unplugged {
			return s.makeBox(ctx, n)
		}
	}
	return nil
}
