package cpejobs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// shaped is serve with another device, whose tree the server knows.
func shaped(t *testing.T, cfg acs.DeviceConfig) served {
	t.Helper()
	s := serve(t)
	cfg.Serial = "SN-2"
	var err error
	if s.device, err = s.sim.AddDevice(cfg); err != nil {
		t.Fatal(err)
	}
	s.idle()
	root := string(genieacs.TR181)
	if cfg.Root != "" {
		root = cfg.Root
	}
	if _, err = s.Gateway.Enqueue(t.Context(), genieacs.DeviceID(s.device), genieacs.Task{
		Kind: genieacs.RefreshObject, Object: root,
	}); err != nil {
		t.Fatal(err)
	}
	s.comes()
	return s
}

// writesTo is writes for the device of shaped. It gives what was written, too.
func (s served) writesTo(class string, kind events.CpeOperationKind, values commands.CpeValues) (
	written []string, code string,
) {
	s.t.Helper()
	w := cpejobs.Write{
		Kind: kind, Values: values, Key: "3f1c", ExpiresAt: s.now.Now().AddDate(0, 0, 1),
		CPE: events.CpeIdentity{SerialNumber: "SN-2", OUI: "00D09E", ProductClass: class},
	}
	out, err := s.Send(s.t.Context(), w)
	w.Written = out.Written
	for range 5 {
		if err != nil {
			s.t.Fatal(err)
		}
		if out.Done || out.Code != "" {
			return w.Written, out.Code
		}
		if len(out.Tasks) > 0 {
			w.Tasks = out.Tasks
		}
		s.comes()
		out, err = s.Outcome(s.t.Context(), w)
	}
	s.t.Fatalf("no end of %+v", w.Tasks)
	return nil, ""
}

// household is a device with two bands of a main network, a guest network, another network and a mesh backhaul.
func household(root string) acs.DeviceConfig {
	at := "WiFi.SSID."
	if root == string(genieacs.TR098) {
		at = "LANDevice.1.WLANConfiguration."
	}
	return acs.DeviceConfig{Root: root, Networks: []acs.Network{
		{At: at + "1", Name: "Home"}, {At: at + "2", Name: "Home-Guest", Mark: "X_ACME_GuestNetwork"},
		{At: at + "3", Name: "Office"}, {At: at + "5", Name: "Home-5G"},
		{At: at + "16", Name: "mesh-4711", Mark: "X_ACME_BackhaulUse"},
	}}
}

// names are the present names of a device's networks, in the order of household.
func (s served) names(root string) []string {
	s.t.Helper()
	has, err := s.sim.Parameters(s.device)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, n := range household(root).Networks {
		name, _ := has[rootOf(root)+"."+n.At+".SSID"].(string)
		names = append(names, name)
	}
	return names
}

// rootOf is the root of a device's configuration.
func rootOf(root string) string {
	if root == "" {
		return string(genieacs.TR181)
	}
	return root
}

// TestWifi_IsWrittenToTheBandsOfTheMainNetworkAlone: guest networks, other networks and mesh backhaul keep their names
// and keys, and are written when somebody chooses them. What was written is told by its names.
func TestWifi_IsWrittenToTheBandsOfTheMainNetworkAlone(t *testing.T) {
	t.Parallel()
	for root, class := range map[string]string{"": "HomeBox-2", string(genieacs.TR098): "HG8"} {
		at := map[string]string{
			"": "Device.WiFi.SSID.", string(genieacs.TR098): "InternetGatewayDevice.LANDevice.1.WLANConfiguration.",
		}[root]
		for name, c := range map[string]struct {
			chosen, want []string
			code         string
		}{
			"by default":  {nil, []string{"New", "Home-Guest", "Office", "New", "mesh-4711"}, ""},
			"the guests'": {[]string{at + "2"}, []string{"Home", "New", "Office", "Home-5G", "mesh-4711"}, ""},
			"none such": {
				[]string{at + "7"}, []string{"Home", "Home-Guest", "Office", "Home-5G", "mesh-4711"}, "no_such_network",
			},
		} {
			s := shaped(t, household(root))
			written, code := s.writesTo(class, events.CpeWifi, commands.CpeValues{
				SSID: "New", Password: "the new key", Networks: c.chosen,
			})
			if got := s.names(root); code != c.code || !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %q, names %v", root, name, code, got)
			}
			has, err := s.sim.Parameters(s.device)
			if err != nil {
				t.Fatal(err)
			}
			for path, value := range has {
				if told := slices.Contains(written, path); (value == "the new key" || value == "New") != told {
					t.Errorf("%s %s: %s is %v, told as written: %t", root, name, path, value, told)
				}
			}
		}
	}
}

// TestWifi_APlainDeviceIsWrittenOnBothBands, whose names differ by what the maker puts behind them.
func TestWifi_APlainDeviceIsWrittenOnBothBands(t *testing.T) {
	t.Parallel()
	for root, c := range map[string]struct{ class, first, second string }{
		"": {"HomeBox-2", "Device.WiFi.SSID.1.SSID", "Device.WiFi.SSID.2.SSID"},
		string(genieacs.TR098): {
			"HG8", "InternetGatewayDevice.LANDevice.1.WLANConfiguration.1.SSID",
			"InternetGatewayDevice.LANDevice.1.WLANConfiguration.5.SSID",
		},
	} {
		s := shaped(t, acs.DeviceConfig{Root: root})
		if _, code := s.writesTo(c.class, events.CpeWifi, commands.CpeValues{
			SSID: "New", Password: "the new key",
		}); code != "" {
			t.Errorf("%s: %q", root, code)
		}
		s.holds(map[string]any{c.first: "New", c.second: "New"})
	}
}

// TestNetworks_ShowsWhatTheDeviceHas, with what each network is for.
func TestNetworks_ShowsWhatTheDeviceHas(t *testing.T) {
	t.Parallel()
	s := shaped(t, household(""))
	list, err := s.Networks(t.Context(), cpeviews.CPERow{
		SerialNumber: "SN-2", OUI: "00D09E", ProductClass: "HomeBox-2",
	})
	var got []string
	for _, n := range list {
		got = append(got, strings.TrimPrefix(n.Path, "Device.WiFi.SSID.")+" "+n.Name+" "+n.Kind)
	}
	want := []string{
		"1 Home main", "2 Home-Guest guest", "3 Office other", "5 Home-5G main", "16 mesh-4711 backhaul",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	unknown := cpeviews.CPERow{SerialNumber: "none", OUI: "00D09E"}
	if list, err := s.Networks(t.Context(), unknown); err != nil || list != nil {
		t.Errorf("of a device that the server does not know: %v, %v", list, err)
	}
}

// TestLogin_IsWrittenWhereTheDeviceDials, wherever that is, and is told as written there.
func TestLogin_IsWrittenWhereTheDeviceDials(t *testing.T) {
	t.Parallel()
	for _, at := range []string{
		"WANDevice.3.WANConnectionDevice.1.WANPPPConnection.1", "WANDevice.1.WANConnectionDevice.1.WANPPPConnection.6",
		"WANDevice.1.WANConnectionDevice.9.WANPPPConnection.1", "PPP.Interface.7",
	} {
		cfg, class := acs.DeviceConfig{Connections: []acs.Connection{{At: at}}}, "HomeBox-2"
		if strings.HasPrefix(at, "WAN") {
			cfg.Root, class = string(genieacs.TR098), "HG8"
		}
		s := shaped(t, cfg)
		path := rootOf(cfg.Root) + "." + at + "."
		written, code := s.writesTo(class, events.CpeLogin, commands.CpeValues{Username: "amina", Password: "secret"})
		if want := []string{path + "Username", path + "Password", path + "Enable"}; code != "" ||
			!slices.Equal(written, want) {
			t.Errorf("%s: %q, written %v", at, code, written)
		}
		s.holds(map[string]any{path + "Username": "amina", path + "Password": "secret", path + "Enable": true})
	}
}
