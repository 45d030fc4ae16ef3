package cpejobs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// TestFile is the file of random bytes that devices load in a speed test, on the file server.
const TestFile = "lastmile-10mb.bin"

// Sizes and patience of the tests. Source: docs/facts/genieacs.md#diagnostics.
const (
	uploadBytes   = 10_000_000
	pings         = 10
	pingPatience  = 5000 // milliseconds
	testRequested = "Requested"
)

// plan has the tasks of a write in their order, and by what its success is known: by values that are read back, by the
// results of a test, or by an instant in the device's history. One of the three is set, but for firmware, of which the
// version tells.
type plan struct {
	tasks []genieacs.Task
	want  map[string]string
	test  *genieacs.Diagnostic
	after func(genieacs.Device) time.Time
}

// plan makes the tasks of a write for a device.
func (a ACS) plan(ctx context.Context, w Write, device genieacs.Device) (plan, error) {
	switch w.Kind {
	case events.CpeReboot:
		return plan{
			tasks: []genieacs.Task{{Kind: genieacs.Reboot}},
			after: func(d genieacs.Device) time.Time { return d.LastBoot },
		}, nil
	case events.CpeFactoryReset:
		return plan{
			tasks: []genieacs.Task{{Kind: genieacs.FactoryReset}},
			after: func(d genieacs.Device) time.Time { return d.LastBootstrap },
		}, nil
	case events.CpeParameters:
		return parametersPlan(w), nil
	case events.CpeFirmware:
		return plan{tasks: []genieacs.Task{{Kind: genieacs.Download, File: w.Image.File}}}, nil
	case events.CpeWifi, events.CpeLogin, events.CpePing, events.CpeSpeedTest, events.CpeUploadTest:
	default: // of a newer program
		return plan{}, refusal{"not_supported", "This program does not know the operation."}
	}
	if device.Root == genieacs.None {
		return plan{}, a.asking(ctx, device.ID, refusal{"no_settings", "The device has not told its settings yet."})
	}
	tree := genieacs.TreeOf(device.Root)
	switch w.Kind {
	case events.CpePing:
		return testPlan(tree.Ping, []genieacs.Parameter{
			{Name: tree.Ping.Host, Value: w.Values.Host}, {Name: tree.Ping.Repetitions, Value: pings},
			{Name: tree.Ping.Timeout, Value: pingPatience},
		}), nil
	case events.CpeSpeedTest:
		address := w.Values.URL
		if address == "" && a.Files == "" { // the setting was taken away meanwhile
			return plan{}, refusal{"no_test_file", "There is no file to load."}
		}
		if address == "" {
			address = strings.TrimRight(a.Files, "/") + "/" + TestFile
		}
		return testPlan(tree.DownloadTest, []genieacs.Parameter{{Name: tree.DownloadTest.URL, Value: address}}), nil
	case events.CpeUploadTest:
		if w.Values.URL == "" { // of an earlier program
			return plan{}, refusal{"no_upload_address", "There is no address to send to."}
		}
		return testPlan(tree.UploadTest, []genieacs.Parameter{
			{Name: tree.UploadTest.URL, Value: w.Values.URL}, {Name: tree.UploadTest.Length, Value: uploadBytes},
		}), nil
	default: // what depends on the networks and connections that the device has
	}
	return a.treePlan(ctx, w, device)
}

// treePlan makes the tasks of a write for which the device's own networks and connections decide.
func (a ACS) treePlan(ctx context.Context, w Write, device genieacs.Device) (plan, error) {
	if len(w.Written) > 0 { // the device may have others by now
		return plan{want: w.readable()}, nil
	}
	layout, err := a.Gateway.Layout(ctx, device.ID)
	if err != nil {
		return plan{}, err
	}
	var p plan
	if w.Kind == events.CpeWifi {
		p, err = wifiPlan(w, layout)
	} else {
		p, err = loginPlan(w, layout, device.Tags)
	}
	return p, a.asking(ctx, device.ID, err)
}

// readable are the names and values of what was written to a device's networks or connections that can be read back.
func (w Write) readable() map[string]string {
	want := map[string]string{}
	for _, name := range w.Written {
		switch {
		case w.Kind == events.CpeWifi && strings.HasSuffix(name, ".SSID"):
			want[name] = w.Values.SSID
		case w.Kind == events.CpeLogin && strings.HasSuffix(name, ".Username"):
			want[name] = w.Values.Username
		}
	}
	return want
}

// writtenNames lists the names of the parameters of a plan, where the device's tree has decided which they are.
func (p plan) writtenNames(w Write) []string {
	if w.Kind != events.CpeWifi && w.Kind != events.CpeLogin {
		return nil
	}
	var names []string
	for _, task := range p.tasks {
		for _, v := range task.Values {
			names = append(names, v.Name)
		}
	}
	return names
}

// asking has a device ask at its next call who it is, when it lacks what a write needs: its tree is read then. A device
// that the server knew before it had our provisions was never read.
func (a ACS) asking(ctx context.Context, device genieacs.DeviceID, missing error) error {
	if missing == nil {
		return nil
	}
	if err := a.Gateway.AddTag(ctx, device, genieacs.Unidentified); err != nil {
		return err
	}
	return missing
}

// written is a plan that sets parameters. Those that can be read are read back afterwards, in another session.
func written(set []genieacs.Parameter, want map[string]string) plan {
	names := make([]string, 0, len(set))
	for _, p := range set {
		names = append(names, p.Name)
	}
	return plan{tasks: afresh(names, set), want: want}
}

// afresh are the tasks that read some parameters and then set some. The server leaves out a value that it takes for the
// device's own: one that the device has lost or never took would not come back, nor one that somebody changed at the
// device. What the device does not tell reads as empty, and is written. Source:
// docs/facts/genieacs.md#success-proves-nothing.
func afresh(read []string, set []genieacs.Parameter) []genieacs.Task {
	return []genieacs.Task{
		{Kind: genieacs.GetParameters, Names: read}, {Kind: genieacs.SetParameters, Values: set},
	}
}

// parametersPlan writes parameters that somebody named.
func parametersPlan(w Write) plan {
	var set []genieacs.Parameter
	want := map[string]string{}
	for _, v := range w.Values.Parameters {
		set = append(set, genieacs.Parameter{Name: v.Name, Value: v.Value, Type: v.Type})
		if !genieacs.IsSecret(v.Name) {
			want[v.Name] = v.Value
		}
	}
	return written(set, want)
}

// wifiPlan names the bands of the main network alike, or those of the networks that somebody has chosen, and gives them
// one key: wherever the device keeps it. Guest networks and links between access points are written when they are
// chosen alone.
func wifiPlan(w Write, layout genieacs.Layout) (plan, error) {
	var set []genieacs.Parameter
	want := map[string]string{}
	for _, band := range layout.Bands {
		if chosen := slices.Contains(w.Values.Networks, band.Path); !chosen &&
			(len(w.Values.Networks) > 0 || band.Kind != genieacs.MainNetwork) {
			continue
		}
		set = append(set, genieacs.Parameter{Name: band.SSID, Value: w.Values.SSID})
		want[band.SSID] = w.Values.SSID
		for _, key := range band.Keys {
			set = append(set, genieacs.Parameter{Name: key, Value: w.Values.Password})
		}
	}
	switch {
	case len(layout.Bands) == 0:
		return plan{}, refusal{"no_wifi", "The device has told of no Wi-Fi network."}
	case len(want) < len(w.Values.Networks):
		return plan{}, refusal{"no_such_network", "The device has no such Wi-Fi network."}
	case len(set) == 0:
		return plan{}, refusal{"no_main_network", "It is not known which Wi-Fi network is the main one. Choose one."}
	}
	return written(set, want), nil
}

// loginPlan writes username and password of PPPoE to the connection that has a login of ours, or else to the one that
// the device uses. Its tags tell which logins were ours.
func loginPlan(w Write, layout genieacs.Layout, tags []string) (plan, error) {
	line, has := layout.Line(ourLogin(w.Values.Username, tags))
	if !has {
		return plan{}, refusal{"no_pppoe", "The device has told of no PPPoE connection."}
	}
	return written([]genieacs.Parameter{
		{Name: line.Username, Value: w.Values.Username}, {Name: line.Password, Value: w.Values.Password},
		{Name: line.Enable, Value: true},
	}, map[string]string{line.Username: w.Values.Username}), nil
}

// ourLogin tells by its username whether a device has a login from us: the one that it should have, or one that its
// tags name.
func ourLogin(username string, tags []string) func(string) bool {
	return func(has string) bool {
		name := acstag.Name(has)
		return has == username || slices.Contains(tags, cpeviews.TagSubscriber+name) ||
			slices.Contains(tags, genieacs.Left+name)
	}
}

// testPlan has a test begin, also when the server has the state of an earlier one.
func testPlan(test genieacs.Diagnostic, set []genieacs.Parameter) plan {
	set = append(set, genieacs.Parameter{Name: test.State, Value: testRequested})
	return plan{test: &test, tasks: afresh([]string{test.State}, set)}
}
