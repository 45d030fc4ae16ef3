package acs_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// signIn is our expression of cwmp.auth.
const signIn = `EXT("lastmile", "signIn", DeviceID.SerialNumber, DeviceID.OUI, DeviceID.ProductClass, ` +
	`AUTH(DeviceID.ID, EXT("lastmile", "signIn", DeviceID.SerialNumber, DeviceID.OUI, DeviceID.ProductClass)))`

// doorkeeper is a platform that lets in who has shown the password.
type doorkeeper struct {
	mu    sync.Mutex
	asked []string
}

// ServeHTTP answers as the platform does.
func (p *doorkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.URL.Path+" "+string(body))
	var in struct{ Shown *bool }
	_ = json.Unmarshal(body, &in)
	if in.Shown == nil {
		_, _ = io.WriteString(w, `{"password":"own secret","admitted":null}`)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"password": nil, "admitted": *in.Shown})
}

// TestSignIn_ADeviceShowsItsPassword: in both trees, by Basic and by Digest, and not with another name or password.
func TestSignIn_ADeviceShowsItsPassword(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"Device", "InternetGatewayDevice"} {
		for _, encrypted := range []bool{false, true} {
			p := &doorkeeper{}
			platform := httptest.NewServer(p)
			t.Cleanup(platform.Close)
			k := newKit(t, acs.Config{
				Identify: acs.Identify{URL: platform.URL + "/internal/cpe/identify"}, SignIn: signIn,
				Encrypted: encrypted,
			})
			id := k.add(acs.DeviceConfig{Serial: "S-1", Root: root})
			server := root + ".ManagementServer."
			for _, c := range []struct {
				name, password string
				in             bool
			}{
				{"", "", false}, {id, "", false}, {id, "other", false}, {"x", "own secret", false},
				{id, "own secret", true},
			} {
				has := map[string]any{server + "Username": c.name, server + "Password": c.password}
				if err := k.SetParameters(id, has); err != nil {
					t.Fatal(err)
				}
				k.clock.Advance(10 * time.Second)
				k.Tick() // a device that was refused comes again
				k.settle()
				if known := k.Devices()[0].Known; known != c.in {
					t.Errorf("%s, encrypted %t, %q %q: let in %t", root, encrypted, c.name, c.password, known)
				}
			}
			if got := k.find("devices", `{"_lastBootstrap":{"$exists":true}}`); len(got) != 1 {
				t.Error("a device that was refused does not say again that it is new")
			}
			begins, ends := "/internal/cpe/sign-in ", `"serialNumber":"S-1","shown":true}`
			if last := p.asked[len(p.asked)-1]; !strings.HasPrefix(last, begins) || !strings.HasSuffix(last, ends) {
				t.Errorf("asked at last %s", last)
			}
		}
	}
}

// TestSignIn_WhatCannotBeReadLetsNobodyIn, and no expression lets all in.
func TestSignIn_WhatCannotBeReadLetsNobodyIn(t *testing.T) {
	t.Parallel()
	for expression, in := range map[string]bool{
		"": true, "true": true, "false": false, `"x"`: true, `""`: false, `DeviceID.SerialNumber`: true,
		"Other.Path": false, `AUTH("a", "b")`: false, `AUTH("a")`: false, `EXT("lastmile", "signIn")`: false,
		`NOW(`: false, `EXT("a" "b")`: false, `true true`: false, `"x`: false, `EXT(Other.Path, "b")`: false,
	} {
		k := newKit(t, acs.Config{SignIn: expression})
		k.add(acs.DeviceConfig{Serial: "S-1"})
		if got := k.Devices()[0].Known; got != in {
			t.Errorf("%s: let in %t", expression, got)
		}
		refused := strings.Contains(strings.Join(k.Log(), "\n"), "Authentication failure")
		if refused == in {
			t.Errorf("%s: the log has %v", expression, k.Log())
		}
	}
}

// TestRemote_ShowsItsPassword to a server that asks for it, by Basic and by Digest.
func TestRemote_ShowsItsPassword(t *testing.T) {
	t.Parallel()
	for _, challenge := range []string{
		`Basic realm="GenieACS"`, `Digest realm="GenieACS",qop="auth,auth-int",nonce="n1"`,
	} {
		var got []string
		lines := &talker{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown := r.Header.Get("Authorization")
			switch {
			case shown != "":
				got = append(got, shown)
			case len(r.Cookies()) == 0: // no session has begun
				w.Header().Set("WWW-Authenticate", challenge)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			lines.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		r, err := acs.NewRemote(t.Context(), acs.RemoteConfig{
			CWMP: server.URL, Device: acs.DeviceConfig{Serial: "R-1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if err := r.Session(t.Context(), "2 PERIODIC"); err == nil || len(got) > 0 {
			t.Errorf("without a password: %v, shown %v", err, got)
		}
		r.Set(map[string]string{"Device.ManagementServer.Username": "box", "Device.ManagementServer.Password": "s"})
		if err := r.Session(t.Context(), "2 PERIODIC"); err != nil || len(got) != 1 {
			t.Fatalf("with a password: %v, shown %v", err, got)
		}
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("box:s"))
		digest := `Digest username="box",realm="GenieACS",nonce="n1",uri="/",response="`
		if got[0] != basic && !strings.HasPrefix(got[0], digest) {
			t.Errorf("shown %s", got[0])
		}
	}
}
