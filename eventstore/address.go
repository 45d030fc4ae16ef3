package eventstore

import (
	"fmt"
	"net"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// ReadAddress gives the hosts of a connection string, without ports, and whether the client uses TLS for them and
// checks their certificates. The client's own parser reads it, since it accepts many spellings of its settings.
func ReadAddress(url string) (hosts []string, guarded bool, err error) {
	config, err := esdb.ParseConnectionString(url)
	if err != nil {
		return nil, false, fmt.Errorf("event store address: %w", err)
	}
	guarded = !config.DisableTLS && !config.SkipCertificateVerification
	if config.Address != "" {
		host, _, err := net.SplitHostPort(config.Address)
		if err != nil {
			return nil, false, fmt.Errorf("event store address: %w", err)
		}
		hosts = append(hosts, host)
	}
	for _, seed := range config.GossipSeeds {
		hosts = append(hosts, seed.Host)
	}
	return hosts, guarded, nil
}
