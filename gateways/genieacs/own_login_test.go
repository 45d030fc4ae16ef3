package genieacs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestOwn_ALoginThatIsNotItsAnyMoreLeavesTheDevice, by its tag or by the mark that it was given; a login of other hands
// stays, and so does one of ours while there is one.
func TestOwn_ALoginThatIsNotItsAnyMoreLeavesTheDevice(t *testing.T) {
	t.Parallel()
	const marked = genieacs.Left + "jane.doe"
	for name, c := range map[string]struct {
		root       genieacs.Root
		mark, gone bool
		says       string // of the platform
		other      string // username that somebody has written
	}{
		"by its tag": {root: genieacs.TR181, says: pending, gone: true},
		"by a mark":  {root: genieacs.TR181, mark: true, says: pending, gone: true},
		"older":      {root: genieacs.TR098, mark: true, says: pending, gone: true},
		"claimed without a customer": {
			root: genieacs.TR181, says: `{"known":true,"tags":["org:rival"],"parameters":[]}`, gone: true,
		},
		"of other hands":   {root: genieacs.TR181, mark: true, says: pending, other: "own@line"},
		"still a customer": {root: genieacs.TR181, mark: true, says: answered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			id := k.add(acs.DeviceConfig{Serial: "L1", Root: string(c.root)})
			at := wan(c.root)
			if c.mark {
				k.tagged(id, marked)
			}
			if c.mark && c.gone {
				if err := k.RemoveTag(t.Context(), id, "sub:jane.doe"); err != nil {
					t.Fatal(err)
				}
			}
			if c.other != "" {
				k.writes(id, at+"Username", c.other)
			}
			p.tell(200, c.says)
			for range 2 { // the second time there is nothing to do
				k.tagged(id, genieacs.Unidentified)
				k.inform(id, "2 PERIODIC")
			}
			k.noFaults()
			username, password := k.inside(id, at+"Username"), k.inside(id, at+"Password")
			enabled := k.inside(id, at+"Enable")
			want := "jane.doe"
			if c.other != "" {
				want = c.other
			}
			if c.gone && (username != "" || password == "pppoe-secret" || enabled != false) ||
				!c.gone && (username != want || password != "pppoe-secret" || enabled != true) {
				t.Errorf("it has %v, %v, %v", username, password, enabled)
			}
			tags := k.read(id).Tags
			if slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, genieacs.Left) }) ||
				slices.Contains(tags, "sub:jane.doe") == (c.says != answered) {
				t.Errorf("tags %v", tags)
			}
		})
	}
}

// TestOwn_ADeviceThatRefusesToLeaveIsAskedAgain: it is switched off already, its mark stays, and nothing else waits.
func TestOwn_ADeviceThatRefusesToLeaveIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		k, p := ready(t)
		id := k.add(acs.DeviceConfig{Serial: "L2", Root: string(root)})
		at := wan(root)
		if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{
			Reject: map[string]string{at + "Username": "9007"},
		}); err != nil {
			t.Fatal(err)
		}
		p.tell(200, pending)
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		if got := k.faulty(); !slices.Equal(got, []string{string(id) + ":lastmile-leaving"}) {
			t.Errorf("%s: faults on %v", root, got)
		}
		if tags := k.read(id).Tags; !slices.Equal(tags, []string{genieacs.Left + "jane.doe"}) {
			t.Errorf("%s: tags %v", root, tags)
		}
		if name, on := k.inside(id, at+"Username"), k.inside(id, at+"Enable"); name != "jane.doe" || on != false {
			t.Errorf("%s: it has %v, %v", root, name, on)
		}
		if err := k.sim.SetDeviceFaults(string(id), acs.DeviceFaults{}); err != nil {
			t.Fatal(err)
		}
		k.clock.Advance(10 * time.Minute)
		k.inform(id, "2 PERIODIC")
		k.noFaults()
		if name, tags := k.inside(id, at+"Username"), k.read(id).Tags; name != "" || len(tags) > 0 {
			t.Errorf("%s: afterwards it has %v, tags %v", root, name, tags)
		}
	}
}

// TestOwn_ALoginThatIsToldWinsOverOneThatLeaves, in one session, also when it is the same one again.
func TestOwn_ALoginThatIsToldWinsOverOneThatLeaves(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ali", "jane.doe"} {
		k, p := ready(t)
		id := k.add(acs.DeviceConfig{Serial: "L3"})
		k.tagged(id, genieacs.Left+"jane.doe")
		if err := k.RemoveTag(t.Context(), id, "sub:jane.doe"); err != nil {
			t.Fatal(err)
		}
		p.tell(200, strings.ReplaceAll(answered, "jane.doe", name))
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		k.noFaults()
		at := wan(genieacs.TR181)
		for path, want := range map[string]any{
			at + "Username": name, at + "Password": "pppoe-secret", at + "Enable": true,
		} {
			if got := k.inside(id, path); got != want {
				t.Errorf("%s: %s is %v", name, path, got)
			}
		}
		tags := k.read(id).Tags
		if slices.Contains(tags, genieacs.Left+"jane.doe") || !slices.Contains(tags, "sub:"+name) {
			t.Errorf("%s: tags %v", name, tags)
		}
	}
}

// TestOwn_AMarkWaitsWhileTheDeviceHasTheTagOfALogin: the mark is written before that tag is taken.
func TestOwn_AMarkWaitsWhileTheDeviceHasTheTagOfALogin(t *testing.T) {
	t.Parallel()
	k, _ := ready(t)
	id := k.add(acs.DeviceConfig{Serial: "L4"})
	k.tagged(id, genieacs.Left+"jane.doe")
	k.inform(id, "2 PERIODIC")
	if got, tags := k.inside(id, wan(genieacs.TR181)+"Username"), k.read(id).Tags; got != "jane.doe" ||
		!slices.Contains(tags, genieacs.Left+"jane.doe") {
		t.Errorf("between the two it has %v, tags %v", got, tags)
	}
	if err := k.RemoveTag(t.Context(), id, "sub:jane.doe"); err != nil {
		t.Fatal(err)
	}
	k.inform(id, "2 PERIODIC")
	k.noFaults()
	if got, tags := k.inside(id, wan(genieacs.TR181)+"Username"), k.read(id).Tags; got != "" ||
		slices.Contains(tags, genieacs.Left+"jane.doe") {
		t.Errorf("it has %v, tags %v", got, tags)
	}
}

// tagged puts a tag on a device.
func (k *kit) tagged(id genieacs.DeviceID, tag string) {
	k.t.Helper()
	if err := k.AddTag(k.t.Context(), id, tag); err != nil {
		k.t.Fatal(err)
	}
}

// writes changes a parameter of a device, with a task.
func (k *kit) writes(id genieacs.DeviceID, path, value string) {
	k.t.Helper()
	sent, err := k.Call(k.t.Context(), id, genieacs.Task{
		Kind: genieacs.SetParameters, UniqueKey: "w",
		Values: []genieacs.Parameter{{Name: path, Value: value, Type: "xsd:string"}},
	})
	if err != nil || sent.Outcome != genieacs.Done {
		k.t.Fatalf("%+v, %v", sent, err)
	}
	k.settle()
}
