package genieacs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// shapes are devices whose connection for the login has an unusual place.
func shapes() map[string]struct {
	cfg  acs.DeviceConfig
	want string
} {
	type shape = struct {
		cfg  acs.DeviceConfig
		want string
	}
	older := func(list ...acs.Connection) acs.DeviceConfig {
		return acs.DeviceConfig{Root: string(genieacs.TR098), Connections: list}
	}
	newer := func(list ...acs.Connection) acs.DeviceConfig { return acs.DeviceConfig{Connections: list} }
	return map[string]shape{
		"another uplink": {
			older(acs.Connection{At: "WANDevice.3.WANConnectionDevice.1.WANPPPConnection.1"}),
			"InternetGatewayDevice.WANDevice.3.WANConnectionDevice.1.WANPPPConnection.1.",
		},
		"a high number": {
			older(acs.Connection{At: "WANDevice.1.WANConnectionDevice.1.WANPPPConnection.6"}),
			"InternetGatewayDevice.WANDevice.1.WANConnectionDevice.1.WANPPPConnection.6.",
		},
		"a high number above it": {
			older(acs.Connection{At: "WANDevice.1.WANConnectionDevice.9.WANPPPConnection.1"}),
			"InternetGatewayDevice.WANDevice.1.WANConnectionDevice.9.WANPPPConnection.1.",
		},
		"newer": {newer(acs.Connection{At: "PPP.Interface.7"}), "Device.PPP.Interface.7."},
		"in use": {
			newer(acs.Connection{At: "PPP.Interface.1", Username: "factory"},
				acs.Connection{At: "PPP.Interface.2", Enabled: true},
				acs.Connection{At: "PPP.Interface.12", Enabled: true, Connected: true}), "Device.PPP.Interface.12.",
		},
		"switched on": {
			newer(acs.Connection{At: "PPP.Interface.1", Username: "factory"},
				acs.Connection{At: "PPP.Interface.8", Enabled: true}), "Device.PPP.Interface.8.",
		},
		"behind a bridge": {
			older(acs.Connection{
				At: "WANDevice.1.WANConnectionDevice.1.WANPPPConnection.1", Enabled: true, Connected: true,
				Type: "PPPoE_Bridged",
			}, acs.Connection{At: "WANDevice.1.WANConnectionDevice.2.WANPPPConnection.1", Type: "IP_Routed"}),
			"InternetGatewayDevice.WANDevice.1.WANConnectionDevice.2.WANPPPConnection.1.",
		},
	}
}

// TestOwn_ConnectionsAreFoundWhereverTheDeviceHasThem: the identification writes the login there, the platform finds it
// there, a changed login goes there, and it leaves from there; the other connections stay as they are.
func TestOwn_ConnectionsAreFoundWhereverTheDeviceHasThem(t *testing.T) {
	t.Parallel()
	for name, c := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			c.cfg.Serial = "SHAPE1"
			id := k.add(c.cfg)
			for _, username := range []string{"jane.doe", "ali"} {
				k.noFaults()
				if got := k.inside(id, c.want+"Username"); got != username {
					t.Errorf("username %v", got)
				}
				l, err := k.Layout(t.Context(), id)
				line, has := l.Line(func(name string) bool { return name == username })
				if err != nil || !has || line.Username != c.want+"Username" || line.LoggedInAs != username {
					t.Errorf("layout %+v, %v", l, err)
				}
				p.tell(200, strings.ReplaceAll(answered, "jane.doe", "ali"))
				k.tagged(id, genieacs.Unidentified)
				k.inform(id, "2 PERIODIC")
			}
			p.tell(200, pending)
			k.tagged(id, genieacs.Unidentified)
			k.inform(id, "2 PERIODIC")
			k.noFaults()
			if got := k.inside(id, c.want+"Username"); got != "" {
				t.Errorf("it keeps %v", got)
			}
			for _, other := range c.cfg.Connections {
				if path := string(c.cfg.Root) + "." + other.At + "."; c.cfg.Root != "" && path != c.want {
					if got := k.inside(id, path+"Username"); got != other.Username {
						t.Errorf("%s has %v", path, got)
					}
				}
			}
		})
	}
}

// TestOwn_ADeviceThatRefusesOneSettingHasTheOthers: a refused interval, or a refused reading, keeps no login away, and
// the fault names the parameter and the value.
func TestOwn_ADeviceThatRefusesOneSettingHasTheOthers(t *testing.T) {
	t.Parallel()
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		for _, c := range []struct{ refuses, channel, value string }{
			{"PeriodicInformInterval", "lastmile-interval", "300"}, {"PeriodicInformEnable", "lastmile-inform", "true"},
		} {
			k, p := ready(t)
			p.tell(503, "")
			id := k.add(acs.DeviceConfig{Serial: "S1", Root: string(root)})
			path := string(root) + ".ManagementServer." + c.refuses
			if c.value == "true" {
				k.writes(id, path, "false")
			} else {
				k.writes(id, path, "60")
			}
			k.rejects(id, path)
			p.tell(200, answered)
			k.inform(id, "2 PERIODIC")
			if got := k.inside(id, wan(root)+"Password"); got != "pppoe-secret" {
				t.Errorf("%s: without %s its password is %v", root, c.refuses, got)
			}
			var faults []genieacs.Fault
			if err := k.EachFault(t.Context(), func(f genieacs.Fault) error {
				faults = append(faults, f)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || faults[0].Channel != c.channel || len(faults[0].Parameters) != 1 ||
				faults[0].Parameters[0].Name != path || faults[0].Parameters[0].Value != c.value {
				t.Errorf("%s: faults %+v", root, faults)
			}
		}
	}
}

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

// TestOwn_ADeviceThatRefusesToLeaveIsAskedAgain: what comes before the refused step is done already, the password first
// and the username last; its mark stays, and nothing else waits.
func TestOwn_ADeviceThatRefusesToLeaveIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		root        genieacs.Root
		refuses     string
		without, on bool // its password, and switched on
	}{
		{genieacs.TR181, "Username", true, false}, {genieacs.TR098, "Username", true, false},
		{genieacs.TR181, "Enable", true, true}, {genieacs.TR181, "Password", false, true},
	} {
		k, p := ready(t)
		id := k.add(acs.DeviceConfig{Serial: "L2", Root: string(c.root)})
		at := wan(c.root)
		k.rejects(id, at+c.refuses)
		p.tell(200, pending)
		k.tagged(id, genieacs.Unidentified)
		k.inform(id, "2 PERIODIC")
		if got := k.faulty(); !slices.Equal(got, []string{string(id) + ":lastmile-leaving"}) {
			t.Errorf("%v: faults on %v", c, got)
		}
		if tags := k.read(id).Tags; !slices.Equal(tags, []string{genieacs.Left + "jane.doe"}) {
			t.Errorf("%v: tags %v", c, tags)
		}
		name, on, password := k.inside(id, at+"Username"), k.inside(id, at+"Enable"), k.inside(id, at+"Password")
		if name != "jane.doe" || on != c.on || (password != "pppoe-secret") != c.without {
			t.Errorf("%v: it has %v, %v, %v", c, name, on, password)
		}
		k.rejects(id, "")
		k.clock.Advance(10 * time.Minute)
		k.inform(id, "2 PERIODIC")
		k.noFaults()
		k.hasNoLogin(id, c.root)
		if tags := k.read(id).Tags; len(tags) > 0 {
			t.Errorf("%v: afterwards it has tags %v", c, tags)
		}
	}
}

// rejects has a device refuse values of a parameter; "" ends it.
func (k *kit) rejects(id genieacs.DeviceID, path string) {
	k.t.Helper()
	f := acs.DeviceFaults{}
	if path != "" {
		f.Reject = map[string]string{path: "9007"}
	}
	if err := k.sim.SetDeviceFaults(string(id), f); err != nil {
		k.t.Fatal(err)
	}
}

// hasNoLogin fails when a device has anything of a login.
func (k *kit) hasNoLogin(id genieacs.DeviceID, root genieacs.Root) {
	k.t.Helper()
	at := wan(root)
	name, on, password := k.inside(id, at+"Username"), k.inside(id, at+"Enable"), k.inside(id, at+"Password")
	if name != "" || on != false || password == "pppoe-secret" {
		k.t.Errorf("it has %v, %v, %v", name, on, password)
	}
}

// marks are those of a device, in their order.
func (k *kit) marks(id genieacs.DeviceID) []string {
	k.t.Helper()
	list := slices.DeleteFunc(k.read(id).Tags, func(tag string) bool { return !strings.HasPrefix(tag, genieacs.Left) })
	slices.Sort(list)
	return list
}

// TestOwn_AMarkGoesWhenTheNextLoginIsOnTheDevice, and not before: a device that refuses the next login, or is told none
// with its tag, has the login of before.
func TestOwn_AMarkGoesWhenTheNextLoginIsOnTheDevice(t *testing.T) {
	t.Parallel()
	const of = genieacs.Left + "jane.doe"
	ali := strings.NewReplacer("jane.doe", "ali", "pppoe-secret", "next-secret").Replace(answered)
	for name, c := range map[string]struct {
		root    genieacs.Root
		marked  bool // it lost the tag of its login before it called
		says    string
		rejects string
	}{
		"refused":        {genieacs.TR181, true, ali, "Username"},
		"refused, older": {genieacs.TR098, true, ali, "Username"},
		"by its tag":     {genieacs.TR181, false, ali, "Password"},
		"no password":    {genieacs.TR181, true, `{"known":true,"tags":["org:acme","sub:ali"],"parameters":[]}`, ""},
		"no password, by its tag": {
			genieacs.TR098, false, `{"known":true,"tags":["org:acme","sub:ali"],"parameters":[]}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, p := ready(t)
			id, at := k.add(acs.DeviceConfig{Serial: "L5", Root: string(c.root)}), wan(c.root)
			if c.marked {
				k.tagged(id, of)
				k.untagged(id, "sub:jane.doe")
				k.tagged(id, "sub:ali")
			}
			p.tell(200, c.says)
			if c.rejects != "" {
				k.rejects(id, at+c.rejects)
			}
			k.tagged(id, genieacs.Unidentified)
			for range 2 {
				k.inform(id, "2 PERIODIC")
				if got := k.inside(id, at+"Username"); got != "jane.doe" || !slices.Equal(k.marks(id), []string{of}) {
					t.Errorf("it has %v, marks %v", got, k.marks(id))
				}
			}
			if name == "refused" { // and now it gets the login
				k.rejects(id, "")
				k.clock.Advance(time.Hour)
				k.inform(id, "2 PERIODIC")
				if got := k.inside(id, at+"Username"); got != "ali" || len(k.marks(id)) > 0 {
					t.Errorf("afterwards it has %v, marks %v", got, k.marks(id))
				}
				return
			}
			k.tagged(id, genieacs.Left+"ali") // the next customer loses it, too
			k.untagged(id, "sub:ali")
			k.rejects(id, "")
			p.tell(200, pending)
			k.clock.Advance(time.Hour)
			k.inform(id, "2 PERIODIC")
			k.hasNoLogin(id, c.root)
			if len(k.marks(id)) > 0 {
				t.Errorf("marks %v", k.marks(id))
			}
		})
	}
}

// untagged takes a tag from a device.
func (k *kit) untagged(id genieacs.DeviceID, tag string) {
	k.t.Helper()
	if err := k.RemoveTag(k.t.Context(), id, tag); err != nil {
		k.t.Fatal(err)
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
