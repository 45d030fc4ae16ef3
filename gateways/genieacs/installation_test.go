package genieacs_test

import (
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// installed needs a server whose extension is ours and asks ACS_IDENTIFY_LISTEN, an address at which the test answers,
// with the key "internal".
func installed(t *testing.T) (nbi, cwmp string, p *platform) {
	t.Helper()
	nbi, cwmp, listen := os.Getenv("ACS_NBI_URL"), os.Getenv("ACS_CWMP_URL"), os.Getenv("ACS_IDENTIFY_LISTEN")
	if nbi == "" || cwmp == "" || listen == "" {
		t.Skip("ACS_NBI_URL, ACS_CWMP_URL and ACS_IDENTIFY_LISTEN are not set")
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		t.Fatal(err)
	}
	p = &platform{status: 200}
	p.Server = httptest.NewUnstartedServer(p.handler())
	_ = p.Listener.Close()
	p.Listener = l
	p.Start()
	t.Cleanup(p.Close)
	return nbi, cwmp, p
}

// TestInstallation_ADeviceShowsItsPassword also needs our expression in the server's configuration cwmp.auth.
func TestInstallation_ADeviceShowsItsPassword(t *testing.T) {
	nbi, cwmp, p := installed(t)
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t.Run(string(root), func(t *testing.T) {
			p.tell(200, pending)
			p.requires("")
			t.Cleanup(func() { p.requires("") })
			s := installation(t, nbi, cwmp, root)
			if !p.knocked() {
				t.Skip("cwmp.auth of the server is not ours")
			}
			server := string(root) + ".ManagementServer."
			p.requires("own secret")
			for _, c := range []struct {
				name, password string
				in             bool
			}{
				{"", "", false}, {string(s.id), "other", false}, {"x", "own secret", false},
				{string(s.id), "own secret", true},
			} {
				s.set(map[string]string{server + "Username": c.name, server + "Password": c.password})
				loop.Sleep(t.Context(), time.Second) // a session right after another is refused
				if err := s.knock(); (err == nil) != c.in {
					t.Errorf("%q %q: %v", c.name, c.password, err)
				}
			}
		})
	}
}

func TestInstallation_OurProvisionsAndExtensionWork(t *testing.T) {
	nbi, cwmp, p := installed(t)
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t.Run(string(root), func(t *testing.T) {
			p.tell(200, answered)
			s := installation(t, nbi, cwmp, root)
			if _, err := s.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			if done, err := s.Install(t.Context()); err != nil || len(done.Written) > 0 {
				t.Errorf("second time: %+v, %v", done, err)
			}
			loop.Sleep(t.Context(), 6*time.Second) // until the server has seen the presets
			s.begin("0 BOOTSTRAP", "1 BOOT")
			s.complete(t)
			class := `"productClass":"` + s.device(t).ProductClass + `"`
			if asked := p.questions(); !strings.Contains(asked[len(asked)-1], class) {
				t.Errorf("asked %v, want %s", asked[len(asked)-1], class)
			}
			p.tell(503, "")
			s.begin("0 BOOTSTRAP", "1 BOOT")
			if d := s.device(t); !slices.Contains(d.Tags, genieacs.Unidentified) {
				t.Errorf("tags in an outage: %v", d.Tags)
			}
			p.tell(200, strings.ReplaceAll(answered, "sub:jane.doe", "sub:ali"))
			s.session()
			var d genieacs.Device
			for range 50 { // tags that go are written a moment after those that come
				d = s.device(t, genieacs.TreeOf(root).UpTime, genieacs.TreeOf(root).BytesReceived)
				if !slices.Contains(d.Tags, genieacs.Unidentified) {
					break
				}
				loop.Sleep(t.Context(), 50*time.Millisecond)
			}
			if slices.Contains(d.Tags, genieacs.Unidentified) || slices.Contains(d.Tags, "sub:jane.doe") ||
				!slices.Contains(d.Tags, "sub:ali") {
				t.Errorf("tags after an outage: %v", d.Tags)
			}
			if len(d.Values) != 2 {
				t.Errorf("health: %+v", d.Values)
			}
			p.tell(200, pending)
			s.begin("1 BOOT")
			s.hasLeft(t)
			if faults, err := s.DeviceFaults(t.Context(), s.id); err != nil || len(faults) > 0 {
				t.Errorf("faults %+v, %v", faults, err)
			}
		})
	}
}

// hasLeft fails unless the device has no login and no tag of ours.
func (s *site) hasLeft(t *testing.T) {
	t.Helper()
	var d genieacs.Device
	for range 50 { // tags are written a moment after the session
		if d = s.device(t); len(d.Tags) == 0 {
			break
		}
		loop.Sleep(t.Context(), 50*time.Millisecond)
	}
	if len(d.Tags) > 0 {
		t.Errorf("tags without a customer: %v", d.Tags)
	}
	for path, want := range map[string]any{
		wan(s.root) + "Username": "", wan(s.root) + "Password": "none", wan(s.root) + "Enable": false,
	} {
		if got := s.value(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

// device reads the site's device, or ends the test.
func (s *site) device(t *testing.T, paths ...string) genieacs.Device {
	t.Helper()
	d, err := s.Device(t.Context(), s.id, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// complete fails unless the device has all that the answer of the platform says.
func (s *site) complete(t *testing.T) {
	t.Helper()
	d := s.device(t, genieacs.TreeOf(s.root).Model)
	slices.Sort(d.Tags)
	if !slices.Equal(d.Tags, []string{"org:acme", "plan:home-10", "sub:jane.doe"}) {
		t.Errorf("tags %v", d.Tags)
	}
	for path, want := range map[string]any{
		wan(s.root) + "Username": "jane.doe", wan(s.root) + "Password": "pppoe-secret", wan(s.root) + "Enable": true,
		genieacs.TreeOf(s.root).InformInterval: 300.0,
	} {
		if got := s.value(path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	layout, err := s.Layout(t.Context(), s.id)
	if err != nil || len(layout.Bands) != 2 || len(layout.PPPoE) != 1 || layout.PPPoE[0].LoggedInAs != "jane.doe" {
		t.Fatalf("layout %+v, %v", layout, err)
	}
	for _, b := range layout.Bands {
		if len(b.Keys) != 1 || b.Name == "" {
			t.Errorf("band %+v", b)
		}
	}
	if faults, err := s.DeviceFaults(t.Context(), s.id); err != nil || len(faults) > 0 {
		t.Errorf("faults %+v, %v", faults, err)
	}
}
