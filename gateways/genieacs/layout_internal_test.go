package genieacs

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// seen makes a tree of leaves with their values.
func seen(t *testing.T, leaves map[string]any) seenTree {
	t.Helper()
	tree := map[string]any{}
	for path, value := range leaves {
		at := tree
		for _, part := range strings.Split(path, ".") {
			next, is := at[part].(map[string]any)
			if !is {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at["_writable"] = true
		if value != nil {
			at["_value"] = value
		}
	}
	return tree
}

// TestLayout_KeyDigitsAreWrittenWhereThereIsNoOtherPlace: a strict device refuses a passphrase in the place of digits,
// and with it the whole write.
func TestLayout_KeyDigitsAreWrittenWhereThereIsNoOtherPlace(t *testing.T) {
	t.Parallel()
	const at = "InternetGatewayDevice.LANDevice.1.WLANConfiguration.1."
	plain, below, digits := at+"KeyPassphrase", at+"PreSharedKey.1.KeyPassphrase", at+"PreSharedKey.1.PreSharedKey"
	for _, c := range []struct{ has, want []string }{
		{[]string{plain, below, digits}, []string{plain, below}}, {[]string{below, digits}, []string{below}},
		{[]string{digits}, []string{digits}}, {nil, nil},
	} {
		leaves := map[string]any{at + "SSID": "a"}
		for _, path := range c.has {
			leaves[path] = nil
		}
		bands := seen(t, leaves).bands(TR098)
		if len(bands) != 1 || !slices.Equal(bands[0].Keys, c.want) {
			t.Errorf("of %v: %+v, want %v", c.has, bands, c.want)
		}
	}
}

// TestLayout_BandsOfOneNetworkShareItsName, with what makers put behind it; what the device marks, or what has another
// name, is no band of the main network. A plain device has all of its bands.
func TestLayout_BandsOfOneNetworkShareItsName(t *testing.T) {
	t.Parallel()
	type network struct {
		name, mark string
		off        bool
	}
	for name, c := range map[string]struct {
		has  []network
		want []NetworkKind
	}{
		"one":                  {[]network{{name: "Guesthouse"}}, []NetworkKind{MainNetwork}},
		"two bands, one name":  {[]network{{name: "Home"}, {name: "Home"}}, []NetworkKind{MainNetwork, MainNetwork}},
		"two bands, two names": {[]network{{name: "Home"}, {name: "Home-5G"}}, []NetworkKind{MainNetwork, MainNetwork}},
		"three bands": {
			[]network{{name: "Home 2.4GHz"}, {name: "home_5G"}, {name: "Home (6 GHz)"}},
			[]NetworkKind{MainNetwork, MainNetwork, MainNetwork},
		},
		"a guest network by another name": {
			[]network{{name: "Home"}, {name: "Visitors"}, {name: "Home5G"}},
			[]NetworkKind{MainNetwork, OtherNetwork, MainNetwork},
		},
		"a guest network that the device marks": {
			[]network{{name: "Home"}, {name: "Home", mark: "X_ACME_GuestNetwork"}},
			[]NetworkKind{MainNetwork, GuestNetwork},
		},
		"mesh backhaul": {
			[]network{{name: "Home"}, {name: "Home", mark: "X_ACME_BackhaulUse"}, {name: "mesh-4711"}},
			[]NetworkKind{MainNetwork, BackhaulNetwork, OtherNetwork},
		},
		"the first is off": {
			[]network{{name: "spare", off: true}, {name: "Home"}, {name: "Home", off: true}},
			[]NetworkKind{OtherNetwork, MainNetwork, MainNetwork},
		},
		"a spare one without a name": {
			[]network{{name: ""}, {name: "Home"}}, []NetworkKind{OtherNetwork, MainNetwork},
		},
	} {
		for _, root := range []Root{TR181, TR098} {
			leaves := map[string]any{}
			for i, n := range c.has {
				at := "InternetGatewayDevice.LANDevice.2.WLANConfiguration."
				if root == TR181 {
					at = "Device.WiFi.SSID."
				}
				at += string(rune('2'+i)) + "."
				leaves[at+"SSID"], leaves[at+"Enable"] = n.name, !n.off
				if n.mark != "" {
					leaves[at+n.mark] = true
				}
			}
			var got []NetworkKind
			for _, b := range seen(t, leaves).bands(root) {
				got = append(got, b.Kind)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s of %s: %v, want %v", name, root, got, c.want)
			}
		}
	}
}

// TestLayout_AnAccessPointOfAnotherNetworkGivesNoKey: its number is that of the network, and it names another one.
func TestLayout_AnAccessPointOfAnotherNetworkGivesNoKey(t *testing.T) {
	t.Parallel()
	bands := seen(t, map[string]any{
		"Device.WiFi.SSID.1.SSID": "Home", "Device.WiFi.SSID.9.SSID": "Visitors",
		"Device.WiFi.AccessPoint.1.SSIDReference":          "Device.WiFi.SSID.9.",
		"Device.WiFi.AccessPoint.1.Security.KeyPassphrase": nil,
	}).bands(TR181)
	if len(bands) != 2 || len(bands[0].Keys) != 0 ||
		!slices.Equal(bands[1].Keys, []string{"Device.WiFi.AccessPoint.1.Security.KeyPassphrase"}) {
		t.Errorf("%+v", bands)
	}
}

// TestLayout_TheConnectionInUseComesFirst, then one that is switched on, then one with a username, and a bridge last;
// one that has a login of the platform is the one for it, whatever it is like.
func TestLayout_TheConnectionInUseComesFirst(t *testing.T) {
	t.Parallel()
	const wan = "InternetGatewayDevice.WANDevice."
	at := []string{
		wan + "1.WANConnectionDevice.1.WANPPPConnection.1.", wan + "1.WANConnectionDevice.9.WANPPPConnection.1.",
		wan + "3.WANConnectionDevice.1.WANPPPConnection.6.", wan + "3.WANConnectionDevice.2.WANPPPConnection.1.",
		wan + "4.WANConnectionDevice.1.WANPPPConnection.1.",
	}
	leaves := map[string]any{}
	for _, one := range at {
		leaves[one+"Username"], leaves[one+"Enable"] = "", false
	}
	leaves[at[1]+"Username"] = "old"
	leaves[at[2]+"ConnectionStatus"], leaves[at[2]+"Enable"] = "Connected", true
	leaves[at[3]+"Enable"], leaves[at[3]+"Password"] = true, "kept by the server"
	leaves[at[0]+"ConnectionType"], leaves[at[0]+"ConnectionStatus"] = "PPPoE_Bridged", "Connected"
	l := Layout{Root: TR098, PPPoE: seen(t, leaves).connections(TR098)}
	var order []string
	for _, one := range l.PPPoE {
		order = append(order, strings.TrimSuffix(one.Username, "Username"))
	}
	if want := []string{at[2], at[3], at[1], at[4], at[0]}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	for mine, want := range map[string]string{"old": at[1], "": at[2], "other": at[2]} {
		line, has := l.Line(func(name string) bool { return name == mine })
		if !has || line.Username != want+"Username" {
			t.Errorf("with login %q: %+v", mine, line)
		}
	}
	if text, _ := json.Marshal(l); strings.Contains(string(text), "kept by the server") {
		t.Error("the layout has a password")
	}
}

// TestLayout_InstancesAreBounded: whatever calls the server may say that it has thousands.
func TestLayout_InstancesAreBounded(t *testing.T) {
	t.Parallel()
	leaves := map[string]any{"Device.PPP.Interface.0.Username": "", "Device.PPP.Interface.07.Username": ""}
	for n := range 5000 {
		leaves["Device.PPP.Interface."+strconv.Itoa(n+1)+".Username"] = ""
	}
	got := seen(t, leaves).connections(TR181)
	if len(got) != maxInstances || got[0].Username != "Device.PPP.Interface.1.Username" {
		t.Errorf("%d connections, the first %v", len(got), got[0].Username)
	}
}
