package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// DefaultMaxAppendSize is the limit when Config.MaxAppendSize is 0, in bytes: the default of the real server.
const DefaultMaxAppendSize = 1 << 20

// Config says where a node keeps its log and how clients reach the node. Pool, Schema and Addr are required.
type Config struct {
	Pool          *pgxpool.Pool // read connections; the writing session is one more, made from the pool's configuration
	Schema        string        // its schema, created and migrated by Start
	Addr          string        // listen address; an empty host is loopback, port 0 a free one
	AdvertiseHost string        // host in the answers to gossip; default: the listen host
	MaxAppendSize int           // bytes of data in one append; default 1 MiB
	Logger        *slog.Logger  // default: slog.Default
	Clock         clock.Clock   // default: the machine's
	TLS           *tls.Config   // required, with Username and Password, on other than loopback addresses
	Username      string        // Basic credentials that every stream call must carry; empty = no check
	Password      string
	Production    bool // requires TLS and credentials on loopback too, fsync and full_page_writes
	// Standby has Start wait while another node has the right to write, and serve nothing meanwhile.
	Standby bool
	// StandingBy is told the address of that node when the wait begins, and when another one has the right; "" = not
	// known. nil = nobody is told.
	StandingBy func(holder string)
	// CanServe is asked before a node that stands by takes the log. An error ends Start, and another node may take it.
	// nil = it always can.
	CanServe func(context.Context) error
	// HolderSilence is the time after which PostgreSQL takes the right from a node that it hears nothing of. Default:
	// 10 s.
	HolderSilence time.Duration
	// ScavengeEvery is the time from one removal of events that nobody can see to the next. 0 = none is removed.
	ScavengeEvery time.Duration
}

// withDefaults fills the optional fields that the caller left empty.
func (c Config) withDefaults() Config {
	if c.MaxAppendSize == 0 {
		c.MaxAppendSize = DefaultMaxAppendSize
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	if c.HolderSilence == 0 {
		c.HolderSilence = holderSilence
	}
	return c
}

// listenHost splits Addr. An empty host means loopback, never every interface.
func (c Config) listenHost() (host, port string, err error) {
	host, port, err = net.SplitHostPort(c.Addr)
	if err != nil {
		return "", "", fmt.Errorf("event store address %q: %w", c.Addr, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("event store address %q: the port is not a number", c.Addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return host, port, nil
}

// validate reports all faults in one error.
func (c Config) validate() error {
	var faults []error
	if c.Pool == nil {
		faults = append(faults, errors.New("event store: no PostgreSQL pool"))
	}
	if c.Schema == "" || len(c.Schema) > 63 {
		faults = append(faults, errors.New("event store: the schema name must have 1 to 63 bytes"))
	}
	if c.MaxAppendSize < 0 || c.MaxAppendSize > maxRecordBytes {
		faults = append(faults, fmt.Errorf("event store: the append limit must be between 1 byte and %d",
			maxRecordBytes))
	}
	if c.HolderSilence < time.Second {
		faults = append(faults, errors.New("event store: the silence of the holder must be at least a second"))
	}
	if c.ScavengeEvery < 0 {
		faults = append(faults, errors.New("event store: the time between two scavenges must not be negative"))
	}
	host, _, err := c.listenHost()
	if err != nil {
		return errors.Join(append(faults, err)...)
	}
	if (c.Username == "") != (c.Password == "") {
		faults = append(faults, errors.New("event store: username and password go together"))
	}
	guarded := c.TLS != nil && c.Username != ""
	if !guarded && !isLoopback(host) {
		faults = append(faults, fmt.Errorf("event store: listening on %s needs TLS and a username and password", host))
	}
	if !guarded && c.Production && isLoopback(host) {
		faults = append(faults, errors.New("event store: in production the node needs TLS and a username and "+
			"password even on loopback"))
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() && c.AdvertiseHost == "" {
		faults = append(faults, fmt.Errorf("event store: listening on %s needs an advertised host that clients can "+
			"reach", host))
	}
	return errors.Join(faults...)
}

// isLoopback reports whether only programs on this machine can reach the host. Of the names, only localhost counts.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
