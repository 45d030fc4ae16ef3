package contract

import (
	"net/url"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// testConnect covers the ways in which clients find the server, and their first calls.
func testConnect(t *testing.T, k *kit) {
	parsed, err := url.Parse(k.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, connection := range map[string]string{
		"direct":       k.url,
		"discovery":    "esdb+discover://" + parsed.Host + "?" + parsed.RawQuery,
		"gossip seeds": "esdb://" + parsed.Host + "," + parsed.Host + "?" + parsed.RawQuery,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := Connect(t, connection)
			version, err := client.GetServerVersion()
			if err != nil || version.Major < 23 {
				t.Fatalf("version %+v, %v", version, err)
			}
			if _, err := client.AppendToStream(within(t), stream("connect"), esdb.AppendToStreamOptions{},
				event("a")); err != nil {
				t.Error(err)
			}
		})
	}
}
