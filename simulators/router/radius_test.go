package router_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// The clients of a service are asked in the order of the menu, and the first one's answer counts.
func TestRADIUS_TheFirstClientOfTheServiceIsAsked(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		k.do("interface/pppoe-server/server", "add", router.Item{
			"service-name": "pppoe1", "interface": "ether5", "disabled": "no", "default-profile": "default",
		})
		k.do("ppp/aaa", "set", router.Item{"use-radius": "yes"})
		client := func(values router.Item) string {
			return k.do("radius", "add", values)[0]["ret"]
		}
		first := client(router.Item{"service": "ppp", "address": "192.0.2.1"})
		second := client(router.Item{"service": "ppp,hotspot", "address": "10.99.0.1"})
		dial := func() error {
			_, err := k.Connect(router.Session{
				Kind: "pppoe", User: "jane", Server: "pppoe1", Address: "10.50.0.9", RADIUS: "10.99.0.1",
			})
			k.Disconnect("jane")
			return err
		}
		if dial() == nil {
			t.Errorf("%s: a user whom only the second server knows is online", version)
		}
		k.do("radius", "set", router.Item{".id": first, "called-id": "pppoe2"})
		if err := dial(); err != nil {
			t.Errorf("%s: a client for another server was asked: %v", version, err)
		}
		k.do("radius", "set", router.Item{".id": first, "called-id": "pppoe1"})
		if dial() == nil {
			t.Errorf("%s: a client for this server was not asked", version)
		}
		k.do("radius", "move", router.Item{"numbers": second, "destination": first})
		if err := dial(); err != nil {
			t.Errorf("%s: after the move: %v", version, err)
		}
		k.do("radius", "set", router.Item{".id": second, "disabled": "yes"})
		if dial() == nil {
			t.Errorf("%s: a client that is off was asked", version)
		}
	}
}

// The platform's server, which is in the tunnel, answers requests over UDP from the router's address there, and no
// router asks a client that is for the backup of accounting about users.
func TestRADIUS_AClientThatTheServerCannotAnswerIsSilent(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version).withRADIUS()
		k.do("interface/pppoe-server/server", "add", router.Item{
			"service-name": "pppoe1", "interface": "ether5", "disabled": "no", "default-profile": "default",
		})
		client := k.do("radius", "print", nil)[0]
		for property, values := range map[string]map[string]bool{
			"src-address": {"192.168.88.1": false, "10.99.0.2": true, "0.0.0.0": true},
			"protocol":    {"radsec": false, "udp": true}, "accounting-backup": {"yes": false, "no": true},
		} {
			for value, online := range values {
				k.do("radius", "set", router.Item{".id": client[".id"], property: value})
				_, err := k.Connect(router.Session{
					Kind: "pppoe", User: "jane", Server: "pppoe1", Address: "10.50.0.9", RADIUS: client["address"],
				})
				k.Disconnect("jane")
				if (err == nil) != online {
					t.Errorf("%s: %s=%s: %v", version, property, value, err)
				}
				k.do("radius", "set", router.Item{
					".id": client[".id"], "src-address": "0.0.0.0", "protocol": "udp", "accounting-backup": "no",
				})
			}
		}
	}
}
