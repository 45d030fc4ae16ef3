package cpecases

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Limits of what is written. Source: docs/rules/cpe.md#operations.
const (
	maxSSID       = 32 // bytes
	minWifiKey    = 8  // characters of ASCII, and so bytes
	maxWifiKey    = 63
	maxParameters = 100
	maxValue      = 1024 // bytes
	maxURL        = 256
	maxWaiting    = 20 // operations of a CPE
)

// Limits of what is asked for of a CPE within an hour, however it ends: each is in the log for ever. People of the
// organization look for what is wrong by tests; a customer changes name and password.
const (
	askedByStaff    = 120
	askedByCustomer = 20
)

// replacedCount is how long an operation that was replaced counts as one that waits: who asks again and again for a CPE
// that does not come would have no limit else.
const replacedCount = time.Hour

// Operations asks for writes to CPEs. All fields are required. Safe for concurrent use.
type Operations struct {
	Bus     *bus.Bus
	Secrets *vault.Secrets
	// Waiting counts the operations of an organization on a CPE that have not ended, or were replaced since an instant.
	Waiting func(ctx context.Context, org id.Organization, cpe id.CPE, since time.Time) (int, error)
	Limiter vault.Limiter // counts what is asked for
	Clock   clock.Clock
	// Allows refuses an address that a CPE is not sent to. The text of its error goes behind the name of the field.
	Allows func(address string) error
	// UploadBase is the address of this program as CPEs reach it; "" = an upload test needs an address.
	UploadBase string
}

// Wifi has a new name and password of a CPE's Wi-Fi.
type Wifi struct {
	SSID     string
	Password secrets.Text
	// Networks are the paths of the networks to change; none = the main one.
	Networks []string
	// Of is the customer whose the CPE must be; zero = whoever of the organization has it.
	Of id.Subscriber
}

// maxNetworks bounds the networks that somebody may choose at once.
const maxNetworks = 16

// networkForm matches the path of a Wi-Fi network in one of the data models.
var networkForm = regexp.MustCompile(
	`^(Device\.WiFi\.SSID|InternetGatewayDevice\.LANDevice\.[0-9]{1,9}\.WLANConfiguration)\.[0-9]{1,9}$`)

// check validates what a CPE would take, before it is asked. Fails: invalid_input.
func (w Wifi) check() error {
	var f failure.Faults
	f.Check(len(w.SSID) >= 1 && len(w.SSID) <= maxSSID, "ssid", "must have 1 to %d bytes", maxSSID)
	f.Check(utf8.ValidString(w.SSID) && !strings.ContainsFunc(w.SSID, control), "ssid",
		"must not have control characters")
	key := w.Password.Reveal()
	f.Check(len(key) >= minWifiKey && len(key) <= maxWifiKey && !strings.ContainsFunc(key, notASCII), "password",
		"must have %d to %d letters, digits or signs of English", minWifiKey, maxWifiKey)
	f.Check(len(w.Networks) <= maxNetworks, "networks", "must have at most %d entries", maxNetworks)
	for _, path := range w.Networks {
		f.Check(networkForm.MatchString(path), "networks", "must be paths such as Device.WiFi.SSID.1")
	}
	return f.Err()
}

// control reports whether a character cannot be seen on any device.
func control(r rune) bool { return r < ' ' || r == 0x7f }

// notASCII reports whether a character is none of those that every device takes in a password.
func notASCII(r rune) bool { return r < ' ' || r > '~' }

// Wifi changes name and password. Fails: invalid_input, cpe_not_found, cpe_operations_full, rate_limited.
func (u Operations) Wifi(
	ctx context.Context, asked usecases.Asked, of id.CPE, in Wifi,
) (id.CPEOperation, bus.Result, error) {
	if err := in.check(); err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	return u.queue(ctx, asked, of, request{
		kind: events.CpeWifi, callNow: true, of: in.Of, names: in.Networks,
		values: &commands.CpeValues{SSID: in.SSID, Password: in.Password.Reveal(), Networks: in.Networks},
	})
}

// Parameters writes parameters by their names. Fails as Wifi.
func (u Operations) Parameters(
	ctx context.Context, asked usecases.Asked, of id.CPE, list []commands.CpeValue, callNow bool,
) (id.CPEOperation, bus.Result, error) {
	r := request{
		kind: events.CpeParameters, callNow: callNow, values: &commands.CpeValues{Parameters: list},
	}
	var f failure.Faults
	f.Check(len(list) > 0, "parameters", "is required")
	f.Check(len(list) <= maxParameters, "parameters", "must have at most %d entries", maxParameters)
	for i, p := range list {
		r.names = append(r.names, p.Name)
		field := fmt.Sprintf("parameters[%d].value", i)
		f.Check(len(p.Value) <= maxValue, field, "must have at most %d bytes", maxValue)
		f.Check(utf8.ValidString(p.Value) && !strings.ContainsFunc(p.Value, control), field,
			"must not have control characters")
	}
	if err := failure.JoinFaults(f.Err(), commands.CheckCpeNames(r.names)); err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	return u.queue(ctx, asked, of, r)
}

// Act asks for what has no values: a reboot or a factory reset. Fails: cpe_not_found, cpe_operations_full,
// rate_limited.
func (u Operations) Act(
	ctx context.Context, asked usecases.Asked, of id.CPE, kind events.CpeOperationKind,
) (id.CPEOperation, bus.Result, error) {
	return u.queue(ctx, asked, of, request{kind: kind, callNow: true})
}

// hostForm matches names and addresses of hosts.
var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$`)

// Ping has the CPE ping a host. Fails as Wifi.
func (u Operations) Ping(
	ctx context.Context, asked usecases.Asked, of id.CPE, host string,
) (id.CPEOperation, bus.Result, error) {
	var f failure.Faults
	f.Check(hostForm.MatchString(host), "host", "must be a host, or host:port")
	if err := f.Err(); err != nil {
		return id.CPEOperation{}, bus.Result{}, err
	}
	return u.queue(ctx, asked, of, request{
		kind: events.CpePing, callNow: true, values: &commands.CpeValues{Host: host},
	})
}

// Transfer has the CPE load a file or send one: a speed test or an upload test. field names the address; "" = ours: for
// an upload one that only this test knows. Fails as Wifi.
func (u Operations) Transfer(
	ctx context.Context, asked usecases.Asked, of id.CPE, kind events.CpeOperationKind, field, address string,
) (id.CPEOperation, bus.Result, error) {
	if address != "" {
		if err := u.checkAddress(field, address); err != nil {
			return id.CPEOperation{}, bus.Result{}, err
		}
	}
	return u.queue(ctx, asked, of, request{
		kind: kind, callNow: true, values: &commands.CpeValues{URL: address},
		uploads: kind == events.CpeUploadTest && address == "",
	})
}

// checkAddress refuses what is no web address, what has a password in it, and where no CPE is sent. Fails:
// invalid_input.
func (u Operations) checkAddress(field, address string) error {
	var f failure.Faults
	parsed, err := url.Parse(address)
	plain := err == nil && len(address) <= maxURL && (parsed.Scheme == "http" || parsed.Scheme == "https") &&
		parsed.Host != "" && parsed.User == nil && !strings.ContainsFunc(address, func(r rune) bool {
		return notASCII(r) || r == ' '
	})
	f.Check(plain, field, "must be an address such as http://test.example.com/10MB.bin")
	if plain {
		if err := u.Allows(address); err != nil {
			f.Check(false, field, "%s", err.Error())
		}
	}
	return f.Err()
}

// request is one write that somebody asks for.
type request struct {
	kind    events.CpeOperationKind
	names   []string
	values  *commands.CpeValues // nil = there are none
	callNow bool
	uploads bool          // to an address of ours, which is made for it
	of      id.Subscriber // whose the CPE must be; zero = whoever has it
}

// queue keeps the values in the vault, and records the request. A repeat under the same key finds the operation of the
// first try, also when it has ended and its values are deleted.
func (u Operations) queue(
	ctx context.Context, asked usecases.Asked, of id.CPE, r request,
) (id.CPEOperation, bus.Result, error) {
	operation := usecases.NewID[id.CPEOperation](asked, "cpe operation")
	device, _, err := bus.LoadOwned[cpe.CPE](ctx, u.Bus, asked.Org(), of)
	if err != nil {
		return operation, bus.Result{}, err
	}
	if !r.of.IsZero() && device.Subscriber != r.of {
		return operation, bus.Result{}, commands.ErrNoCpe()
	}
	command := commands.QueueCpeOperation{
		OperationID: operation, CpeID: of, OrgID: asked.Org(), SubscriberID: device.Subscriber, Kind: r.kind,
		Names: r.names, CallNow: r.callNow,
	}
	present, _, err := bus.LoadUnchecked[cpe.Operation](ctx, u.Bus, operation) // the id is of this request
	if err != nil {
		return operation, bus.Result{}, err
	}
	if present.ID.IsZero() {
		if err := u.room(ctx, asked.Org(), of, r); err != nil {
			return operation, bus.Result{}, err
		}
	}
	if r.values != nil {
		if r.uploads {
			r.values.URL = uploadAddress(u.UploadBase, operation)
		}
		command.ValuesRef = valuesRef(operation)
		if present.ID.IsZero() {
			err = u.keep(ctx, command, *r.values)
		}
		if err != nil {
			return operation, bus.Result{}, err
		}
	}
	done, err := u.Bus.Execute(ctx, command, asked.Meta)
	switch failure.KindOf(err) {
	case failure.Invalid, failure.Malformed, failure.Denied, failure.NotFound, failure.Conflict, failure.Stale:
		if command.ValuesRef.IsZero() {
			break
		}
		if dropped := u.Secrets.Delete(ctx, command.ValuesRef); dropped != nil {
			return operation, bus.Result{}, dropped
		}
	default: // done, or perhaps done: the operation has its values
	}
	return operation, done, err
}

// room refuses a request for a CPE for which many wait: they are carried out one by one when it comes, and are looked
// for until then. A few that are asked for at once may go above the limit. It counts those that may be asked for:
// customers and people of the organization do not use up each other's. Fails: cpe_operations_full, rate_limited.
func (u Operations) room(ctx context.Context, org id.Organization, of id.CPE, r request) error {
	waiting, err := u.Waiting(ctx, org, of, u.Clock.Now().Add(-replacedCount))
	switch {
	case err != nil:
		return err
	case waiting >= maxWaiting:
		return commands.ErrCpeOperationsFull()
	case !r.of.IsZero():
		return atMost(ctx, u.Limiter, "cpe of customer:"+org.String()+":"+of.String(), askedByCustomer)
	}
	return atMost(ctx, u.Limiter, "cpe:"+org.String()+":"+of.String(), askedByStaff)
}

// atMost counts a request of which there may be so many within an hour. Fails: rate_limited.
func atMost(ctx context.Context, by vault.Limiter, key string, limit int) error {
	ok, wait, err := by.Allow(ctx, key, limit, time.Hour)
	if err == nil && !ok {
		err = failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	return err
}

// keep stores values.
func (u Operations) keep(ctx context.Context, c commands.QueueCpeOperation, values commands.CpeValues) error {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("write values of operation %s", c.OperationID) // the cause would have them
	}
	secret := vault.Secret{Ref: c.ValuesRef, OrgID: c.OrgID, Purpose: commands.CpeValuesPurpose}
	return u.Secrets.Put(ctx, secret, text)
}
