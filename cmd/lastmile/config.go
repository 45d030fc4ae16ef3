package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Values of APP_ENV. Only these two are accepted.
const (
	development = "development"
	production  = "production"
)

// Values of GATEWAY_MODE; unset means test in development and live in production.
const (
	gatewayLive = "live"
	gatewayTest = "test"
)

// Config is the whole configuration, from the environment. Names never change (docs/rules/setup.md#variables); packages
// receive values, never this struct. The zero value is not usable: see loadConfig.
type Config struct {
	AppEnv        string   `env:"APP_ENV" envDefault:"development"`
	DevClock      bool     `env:"DEV_CLOCK"` // the clock can be moved: /dev/clock
	LogLevel      string   `env:"LOG_LEVEL" envDefault:"info"`
	HTTPAddr      string   `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080"`
	MetricsAddr   string   `env:"METRICS_ADDR"`
	ServiceDomain string   `env:"SERVICE_DOMAIN" envDefault:"lastmile.localhost"`
	TrustedProxy  networks `env:"TRUSTED_PROXIES"`

	DataDir     string  `env:"DATA_DIR" envDefault:"./.lastmile"`
	DatabaseURL address `env:"DATABASE_URL"`
	// Namespace begins all schema names, so that installations can share a database.
	Namespace string `env:"DATABASE_NAMESPACE" envDefault:"lastmile"`
	// DatabaseConns bounds each of the three connection pools.
	DatabaseConns int32 `env:"DATABASE_MAX_CONNS" envDefault:"24"`

	EventStoreURL      address      `env:"EVENTSTORE_URL"`
	EventStoreAddr     string       `env:"EVENTSTORE_ADDR" envDefault:"127.0.0.1:2113"`
	EventStoreUsername string       `env:"EVENTSTORE_USERNAME"`
	EventStorePassword secrets.Text `env:"EVENTSTORE_PASSWORD"`
	// Certificate and key of the embedded node, and the authority that signed it (PEM files).
	EventStoreCertFile string `env:"EVENTSTORE_TLS_CERT_FILE"`
	EventStoreKeyFile  string `env:"EVENTSTORE_TLS_KEY_FILE"`
	EventStoreCAFile   string `env:"EVENTSTORE_TLS_CA_FILE"`
	// ScavengeInterval is the time between two looks of the embedded node for events that nobody can see any more; 0 =
	// they stay.
	ScavengeInterval time.Duration `env:"EVENTSTORE_SCAVENGE_INTERVAL" envDefault:"24h"`
	// Standby is `--standby` of serve and eventstore: the embedded node waits while another program has the log.
	Standby bool `env:"STANDBY"`

	EncryptionKey secrets.Text `env:"PLATFORM_ENCRYPTION_KEY"`
	// PreviousEncryptionKeys open values that were sealed before a rotation.
	PreviousEncryptionKeys []secrets.Text `env:"PLATFORM_ENCRYPTION_KEYS_PREVIOUS"`
	JWTSigningKey          secrets.Text   `env:"JWT_SIGNING_KEY"`

	// RequireSecondFactor keeps administrators of the platform out of everything but their account until they have a
	// second factor (docs/rules/identity.md#required-second-factor).
	RequireSecondFactor bool `env:"PLATFORM_REQUIRE_SECOND_FACTOR"`

	RateLimitUser    int `env:"RATE_LIMIT_USER" envDefault:"300"`
	RateLimitLogin   int `env:"RATE_LIMIT_LOGIN" envDefault:"10"`
	RateLimitWebhook int `env:"RATE_LIMIT_WEBHOOK" envDefault:"100"`
	RateLimitPrompt  int `env:"RATE_LIMIT_PROMPT" envDefault:"3"` // of an organization to one phone in ten minutes

	GatewayMode           string       `env:"GATEWAY_MODE"` // empty: test in development, live in production
	PaymentEnv            string       `env:"PAYMENT_ENV"`  // empty: sandbox in development, refused in production
	PaymentBaseURL        string       `env:"PAYMENT_BASE_URL"`
	PaymentConsumerKey    string       `env:"PAYMENT_CONSUMER_KEY"`
	PaymentConsumerSecret secrets.Text `env:"PAYMENT_CONSUMER_SECRET"`
	PaymentShortcode      string       `env:"PAYMENT_SHORTCODE"`
	PaymentPasskey        secrets.Text `env:"PAYMENT_PASSKEY"`
	PaymentInitiator      string       `env:"PAYMENT_INITIATOR"`
	PaymentCredential     secrets.Text `env:"PAYMENT_SECURITY_CREDENTIAL"`
	PaymentNominated      string       `env:"PAYMENT_NOMINATED_NUMBER"` // empty: testNominated in test mode
	PaymentCallbackURL    string       `env:"PAYMENT_CALLBACK_URL"`     // empty in development: its own address
	PaymentAllowedIPs     networks     `env:"PAYMENT_ALLOWED_IPS"`

	// TaxGatewayNetworks are those without public addresses in which the tax gateway of an organization may be.
	TaxGatewayNetworks networks `env:"TAX_GATEWAY_NETWORKS"`

	FleetPollInterval  time.Duration `env:"FLEET_POLL_INTERVAL" envDefault:"60s"`
	DriftCheckInterval time.Duration `env:"DRIFT_CHECK_INTERVAL" envDefault:"15m"`
	AuditInterval      time.Duration `env:"ACCESS_AUDIT_INTERVAL" envDefault:"5m"`
	FleetHistoryKept   time.Duration `env:"FLEET_HISTORY_RETENTION" envDefault:"168h"`
	// TunnelHost is the public host of the SSTP concentrator that routers bring their tunnels up to.
	TunnelHost string `env:"TUNNEL_HOST"`
	TunnelPort int    `env:"TUNNEL_PORT" envDefault:"443"`
	// RouterAllowReboot gives the routers' API user the policy reboot, which is denied by default
	// (docs/rules/network.md#bootstrap-script): without it a router refuses to be rebooted, in its own words.
	RouterAllowReboot bool `env:"ROUTER_ALLOW_REBOOT"`
	// RouterDNS lists the name servers that customers behind a router are told, separated by commas
	// (docs/rules/network.md#working-services).
	RouterDNS string `env:"ROUTER_DNS" envDefault:"1.1.1.1,8.8.8.8"`
	// RouterNAT is "auto" or "off": whether a router translates the addresses of a service's customers where no rule of
	// the operator's does (docs/rules/network.md#working-services).
	RouterNAT string `env:"ROUTER_NAT" envDefault:"auto"`
	// RoutersPerOrganization bounds the routers of one organization (docs/rules/network.md#address-plans).
	RoutersPerOrganization int `env:"ROUTERS_PER_ORGANIZATION" envDefault:"4000"`
	// VouchersPerOrganization bounds the vouchers of one organization (docs/rules/access-vouchers.md#batches).
	VouchersPerOrganization int `env:"VOUCHERS_PER_ORGANIZATION" envDefault:"100000"`

	// WalledGardenAddr is the TCP address at which the plain web pages of customers in the walled garden are led to the
	// payment page (docs/rules/access-walled-garden.md#redirect). Empty = routers refuse these pages like all others.
	WalledGardenAddr string `env:"WALLED_GARDEN_ADDR"`
	// WalledGardenSites lists host names, IPv4 addresses and subnets that customers in every walled garden reach,
	// separated by commas.
	WalledGardenSites string `env:"WALLED_GARDEN_SITES"`

	// The UDP ports of RADIUS. Both empty = routers are not answered.
	RadiusAuthAddr string `env:"RADIUS_AUTH_ADDR"`
	RadiusAcctAddr string `env:"RADIUS_ACCT_ADDR"`
	// How long sessions of customers, the addresses that they had, and use by day are kept; 0 = for ever.
	SessionsKept  time.Duration `env:"SESSION_RETENTION" envDefault:"8760h"`
	AddressesKept time.Duration `env:"ADDRESS_RETENTION" envDefault:"8760h"`
	UsageKept     time.Duration `env:"USAGE_RETENTION" envDefault:"17520h"`

	CPESyncInterval      time.Duration `env:"CPE_SYNC_INTERVAL" envDefault:"60s"`
	CPEFaultPollInterval time.Duration `env:"CPE_FAULT_POLL_INTERVAL" envDefault:"60s"`
	CPEUploadURL         string        `env:"CPE_UPLOAD_URL"` // empty in development: its own address

	ACSNBIURL  string `env:"ACS_NBI_URL"`
	ACSFSURL   string `env:"ACS_FS_URL"`
	ACSCWMPURL string `env:"ACS_CWMP_URL"` // as devices reach it
	// ACSTunnelAddress is the address of the CPE server as management networks reach it through the tunnel
	// (docs/rules/network.md#way-to-the-cpe-server). Empty = they do not.
	ACSTunnelAddress string       `env:"ACS_TUNNEL_ADDRESS"`
	ACSInternalKey   secrets.Text `env:"ACS_INTERNAL_KEY"`
	// CPESignIn is "on" or "off": whether each device gets a password of its own for the CPE server, and must show it
	// (docs/rules/cpe.md#sign-in).
	CPESignIn string `env:"CPE_SIGN_IN" envDefault:"off"`
	// The system of the optical line terminals; both or neither.
	OLTURL   string       `env:"OLT_URL"`
	OLTToken secrets.Text `env:"OLT_TOKEN"`

	BillManagerKey       string       `env:"BILL_MANAGER_CONSUMER_KEY"`
	BillManagerSecret    secrets.Text `env:"BILL_MANAGER_CONSUMER_SECRET"`
	BillManagerShortcode string       `env:"BILL_MANAGER_SHORTCODE"`
	BillManagerEmail     string       `env:"BILL_MANAGER_EMAIL"`
	BillManagerPhone     string       `env:"BILL_MANAGER_PHONE"`

	SMTPURL address `env:"SMTP_URL"`
	SMSURL  address `env:"SMS_URL"`
	// SMSTemplate is the path of a file that describes an SMS provider (docs/operations.md#other-sms-providers); "" =
	// it speaks as Africa's Talking does.
	SMSTemplate string `env:"SMS_TEMPLATE"`
	// SMSReportToken ends the address at which the SMS provider reports about messages; unset = reports are not taken.
	SMSReportToken secrets.Text `env:"SMS_REPORT_TOKEN"`
	WhatsAppURL    address      `env:"WHATSAPP_URL"`
	// WhatsAppReportToken ends the address at which WhatsApp reports, and WhatsAppAppSecret signs its reports; unset =
	// reports are not taken.
	WhatsAppReportToken secrets.Text `env:"WHATSAPP_REPORT_TOKEN"`
	WhatsAppAppSecret   secrets.Text `env:"WHATSAPP_APP_SECRET"`
}

// loadConfig reads the configuration from an environment given as name=value pairs and checks it. The error names every
// fault at once.
func loadConfig(environ []string) (Config, error) {
	cfg, unread := readConfig(environ)
	if err := errors.Join(unread, apart(cfg.Validate(), unread)); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// apart leaves out further faults of variables that could not be read: such a variable has its default value, which the
// operator did not choose.
func apart(faults, unread error) error {
	list, ok := faults.(interface{ Unwrap() []error }) //nolint:errorlint // the joined error itself
	if !ok || unread == nil {
		return faults
	}
	var out []error
	for _, fault := range list.Unwrap() {
		name, _, _ := strings.Cut(fault.Error(), ":")
		if !strings.Contains("\n"+unread.Error(), "\n"+name+":") {
			out = append(out, fault)
		}
	}
	return errors.Join(out...)
}

// readConfig reads each variable alone. Rules over several variables are checked by Validate.
func readConfig(environ []string) (Config, error) {
	var cfg Config
	err := env.ParseWithOptions(&cfg, env.Options{Environment: env.ToMap(environ)})
	var all env.AggregateError
	if errors.As(err, &all) {
		err = named(all.Errors)
	}
	if cfg.GatewayMode == "" {
		cfg.GatewayMode = gatewayTest
		if cfg.Production() {
			cfg.GatewayMode = gatewayLive
		}
	}
	if cfg.PaymentEnv == "" && !cfg.Production() {
		cfg.PaymentEnv = "sandbox"
	}
	return cfg, err
}

// named begins each parse error with the name of the variable instead of the field that it fills.
func named(errs []error) error {
	var out []error
	for _, err := range errs {
		var bad env.ParseError
		if errors.As(err, &bad) {
			if f, ok := reflect.TypeFor[Config]().FieldByName(bad.Name); ok {
				name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
				err = fmt.Errorf("%s: cannot be read: %w", name, bad.Err)
			}
		}
		out = append(out, err)
	}
	return errors.Join(out...)
}

// Production reports whether real customers depend on this program: APP_ENV=production.
func (c Config) Production() bool { return c.AppEnv == production }

// shown lists the settings as names and values for the log. Secrets and passwords in addresses are hidden, and empty
// settings are left out.
func (c Config) shown() []any {
	var list []any
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("env"), ",")
		if v.Field(i).IsZero() {
			continue
		}
		list = append(list, strings.ToLower(name), fmt.Sprint(v.Field(i).Interface()))
	}
	return list
}

// address is a connection string that may hold a password. Printed, it hides the password.
type address string

// String gives the address with the password hidden; Hidden when it cannot be parsed.
func (a address) String() string {
	u, err := url.Parse(string(a))
	if err != nil || u.Scheme == "" {
		return secrets.Hidden // the password may stand anywhere in a text of unknown form
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", secrets.Hidden)
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// networks is a list of addresses or CIDR ranges, separated by commas; a single address is a range of one. An IPv4
// address written as IPv6 (::ffff:192.0.2.7) is the IPv4 address, as it is for the addresses of requests.
type networks []netip.Prefix

// UnmarshalText reads a list such as "10.0.0.0/8, 192.0.2.7"; blanks around the commas are allowed.
func (n *networks) UnmarshalText(text []byte) error {
	var list networks
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		if addr, err := netip.ParseAddr(part); err == nil {
			addr = addr.Unmap()
			list = append(list, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is neither an address nor a range such as 10.0.0.0/8", part)
		}
		if prefix.Addr().Is4In6() {
			return fmt.Errorf("%q is a range of IPv4 written as IPv6: write it such as 10.0.0.0/8", part)
		}
		list = append(list, prefix.Masked())
	}
	*n = list
	return nil
}
