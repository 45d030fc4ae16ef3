package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/messagegateway"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// minSigningKey is the least length of JWT_SIGNING_KEY in bytes: the size of a SHA-256 hash.
const minSigningKey = 32

// faults collects the faults of a configuration, each beginning with the variable's name.
type faults []error

// check adds a fault of a variable when ok is false. The text is a format.
func (f *faults) check(ok bool, name, text string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Errorf("%s: %s", name, fmt.Sprintf(text, args...)))
	}
}

// Validate reports every fault at once, by the variable's name. It makes no connection.
func (c Config) Validate() error {
	var f faults
	f.check(c.AppEnv == development || c.AppEnv == production, "APP_ENV", "must be development or production")
	var level slog.Level
	f.check(level.UnmarshalText([]byte(c.LogLevel)) == nil, "LOG_LEVEL", "must be debug, info, warn or error")
	f.check(validAddr(c.HTTPAddr), "HTTP_ADDR", "must be host:port")
	f.check(c.MetricsAddr == "" || validAddr(c.MetricsAddr), "METRICS_ADDR", "must be host:port")
	f.check(validDomain(c.ServiceDomain), "SERVICE_DOMAIN", "must be a domain name, without port")
	f.check(c.DataDir != "", "DATA_DIR", "must not be empty")
	f.check(c.DatabaseURL == "" || validDatabase(string(c.DatabaseURL)), "DATABASE_URL",
		"must be postgres://user:password@host:port/database, or postgres://user@/database?host=/directory/of/socket")
	f.check(postgres.Namespace(c.Namespace).Validate() == nil, "DATABASE_NAMESPACE",
		"must be 1 to 24 lower-case letters and digits, a letter first")
	f.check(c.DatabaseConns >= 4, "DATABASE_MAX_CONNS", "must be at least 4")
	for name, n := range map[string]int{
		"RATE_LIMIT_USER": c.RateLimitUser, "RATE_LIMIT_LOGIN": c.RateLimitLogin,
		"RATE_LIMIT_WEBHOOK": c.RateLimitWebhook, "RATE_LIMIT_PROMPT": c.RateLimitPrompt,
	} {
		f.check(n > 0, name, "must be more than 0")
	}
	f.check(!c.DevClock || !c.Production(), "DEV_CLOCK", "is refused in production")
	f.check(!c.DevClock || c.EventStoreURL == "", "DEV_CLOCK",
		"needs a program that works alone, without EVENTSTORE_URL")
	c.checkKeys(&f)
	c.checkEventStore(&f)
	c.checkPayments(&f)
	c.checkNetwork(&f)
	c.checkMessages(&f)
	c.checkCPE(&f)
	if c.Production() {
		c.checkSafety(&f)
		f.check(c.ServiceDomain != "localhost" && !strings.HasSuffix(c.ServiceDomain, ".localhost"), "SERVICE_DOMAIN",
			"is required in production")
		f.check(!c.hasDemoSecrets(), "PAYMENT_CONSUMER_SECRET", "the demo's credentials are refused in production")
	}
	return errors.Join(f...)
}

// minReportToken is the least length of SMS_REPORT_TOKEN and WHATSAPP_REPORT_TOKEN, and in production of
// ACS_INTERNAL_KEY, in bytes.
const minReportToken = 32

// checkMessages checks the gateways of messages as far as they can be without their files.
func (c Config) checkMessages(f *faults) {
	if c.SMTPURL != "" {
		_, err := messagegateway.NewMailer(string(c.SMTPURL), c.mailSender(), messagegateway.Config{})
		f.check(err == nil, "SMTP_URL", "%v", err)
	}
	f.check(c.SMSURL == "" || hasScheme(string(c.SMSURL), "http", "https"), "SMS_URL",
		"must be https://user:key@host/path")
	f.check(!c.Production() || c.SMSURL == "" || hasScheme(string(c.SMSURL), "https"), "SMS_URL",
		"must be https in production")
	f.check(c.SMSTemplate == "" || c.SMSURL != "", "SMS_TEMPLATE", "needs SMS_URL")
	f.check(c.SMSReportToken.IsZero() || len(c.SMSReportToken.Reveal()) >= minReportToken, "SMS_REPORT_TOKEN",
		"must have at least %d characters", minReportToken)
	if c.WhatsAppURL != "" {
		_, err := messagegateway.NewWhatsApp(string(c.WhatsAppURL), messagegateway.Config{})
		f.check(err == nil, "WHATSAPP_URL", "%v", err)
	}
	f.check(!c.Production() || c.WhatsAppURL == "" || hasScheme(string(c.WhatsAppURL), "https"), "WHATSAPP_URL",
		"must be https in production")
	token := c.WhatsAppReportToken
	f.check(token.IsZero() || len(token.Reveal()) >= minReportToken, "WHATSAPP_REPORT_TOKEN",
		"must have at least %d characters", minReportToken)
	f.check(token.IsZero() == c.WhatsAppAppSecret.IsZero(), "WHATSAPP_APP_SECRET",
		"goes with WHATSAPP_REPORT_TOKEN: both or neither")
	f.check(token.IsZero() || c.WhatsAppURL != "", "WHATSAPP_REPORT_TOKEN", "needs WHATSAPP_URL")
}

// Bounds of addresses that devices are told, in bytes: they take 256 for an upload, of which a token comes behind, and
// an option of DHCP has 255.
const (
	maxUploadBase = 150
	maxCWMPURL    = 200
)

// checkCPE checks the addresses of the CPE server and of the terminals. None has a password in it: devices are told
// some of them.
func (c Config) checkCPE(f *faults) {
	f.check(c.CPESyncInterval >= time.Second, "CPE_SYNC_INTERVAL", "must be at least 1s")
	f.check(c.CPESignIn == "on" || c.CPESignIn == "off", "CPE_SIGN_IN", "must be on or off")
	f.check(c.CPESignIn != "on" || !c.ACSInternalKey.IsZero(), "CPE_SIGN_IN",
		"needs ACS_INTERNAL_KEY, by which the CPE server asks")
	f.check(c.CPEFaultPollInterval >= time.Second, "CPE_FAULT_POLL_INTERVAL", "must be at least 1s")
	f.check(len(c.CPEUploadURL) <= maxUploadBase, "CPE_UPLOAD_URL", "must have at most %d characters", maxUploadBase)
	for name, address := range map[string]string{
		"ACS_NBI_URL": c.ACSNBIURL, "ACS_FS_URL": c.ACSFSURL, "CPE_UPLOAD_URL": c.CPEUploadURL, "OLT_URL": c.OLTURL,
		"ACS_CWMP_URL": c.ACSCWMPURL,
	} {
		f.check(address == "" || hasScheme(address, "http", "https") && !strings.Contains(address, "@"), name,
			"must be http://host:port, without a password")
	}
	f.check(len(c.ACSCWMPURL) <= maxCWMPURL, "ACS_CWMP_URL", "must have at most %d bytes", maxCWMPURL)
	f.check((c.OLTURL == "") == c.OLTToken.IsZero(), "OLT_TOKEN", "goes with OLT_URL: both or neither")
	c.checkCPETunnel(f)
}

// checkKeys checks the platform keys and the key that signs tokens.
func (c Config) checkKeys(f *faults) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.EncryptionKey.Reveal()))
	given := !c.EncryptionKey.IsZero()
	f.check(!given || err == nil && len(key) == secrets.KeySize, "PLATFORM_ENCRYPTION_KEY",
		"must be %d bytes in base64", secrets.KeySize)
	f.check(given || !c.Production(), "PLATFORM_ENCRYPTION_KEY", "is required in production")
	f.check(given || len(c.PreviousEncryptionKeys) == 0, "PLATFORM_ENCRYPTION_KEYS_PREVIOUS",
		"needs PLATFORM_ENCRYPTION_KEY")
	for _, k := range c.PreviousEncryptionKeys {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(k.Reveal()))
		f.check(err == nil && len(key) == secrets.KeySize, "PLATFORM_ENCRYPTION_KEYS_PREVIOUS",
			"must be keys of %d bytes in base64", secrets.KeySize)
	}
	f.check(!c.JWTSigningKey.IsZero() || !c.Production(), "JWT_SIGNING_KEY", "is required in production")
	f.check(c.JWTSigningKey.IsZero() || len(c.JWTSigningKey.Reveal()) >= minSigningKey, "JWT_SIGNING_KEY",
		"must have at least %d bytes", minSigningKey)
}

// checkEventStore checks the address of the log, and the guard of an embedded node
// (docs/rules/engine.md#node-in-production).
func (c Config) checkEventStore(f *faults) {
	if c.EventStoreURL != "" {
		f.check(hasScheme(string(c.EventStoreURL), "esdb", "esdb+discover"), "EVENTSTORE_URL", "must be esdb://...")
		return
	}
	f.check(validAddr(c.EventStoreAddr), "EVENTSTORE_ADDR", "must be host:port")
	f.check(c.ScavengeInterval == 0 || c.ScavengeInterval >= time.Minute, "EVENTSTORE_SCAVENGE_INTERVAL",
		"must be 0 or at least 1m")
	f.check((c.EventStoreUsername == "") == c.EventStorePassword.IsZero(), "EVENTSTORE_PASSWORD",
		"and EVENTSTORE_USERNAME go together")
	f.check((c.EventStoreCertFile == "") == (c.EventStoreKeyFile == ""), "EVENTSTORE_TLS_CERT_FILE",
		"and EVENTSTORE_TLS_KEY_FILE go together")
	f.check(c.EventStorePassword.IsZero() || c.EventStoreCertFile != "" || c.Production(), "EVENTSTORE_PASSWORD",
		"is never sent without TLS: set EVENTSTORE_TLS_CERT_FILE, EVENTSTORE_TLS_KEY_FILE and EVENTSTORE_TLS_CA_FILE")
	if validAddr(c.EventStoreAddr) && !isLoopback(c.EventStoreAddr) {
		f.check(c.nodeGuarded(), "EVENTSTORE_ADDR", wantsGuard)
	}
}

// wantsGuard is the fault of a node that other machines can reach without TLS and a password.
const wantsGuard = "a node that other programs reach needs TLS (EVENTSTORE_TLS_CERT_FILE, EVENTSTORE_TLS_KEY_FILE)" +
	" and a password (EVENTSTORE_USERNAME, EVENTSTORE_PASSWORD)"

// nodeGuarded reports whether the configuration gives the embedded node a certificate and a password. On loopback in
// production guardNode makes the missing ones.
func (c Config) nodeGuarded() bool {
	return c.EventStoreCertFile != "" && !c.EventStorePassword.IsZero()
}

// checkPayments checks the provider's settings (docs/rules/setup.md#production-checks).
func (c Config) checkPayments(f *faults) {
	f.check(c.GatewayMode == gatewayLive || c.GatewayMode == gatewayTest, "GATEWAY_MODE", "must be live or test")
	f.check(c.PaymentEnv == "sandbox" || c.PaymentEnv == "production", "PAYMENT_ENV",
		"must be sandbox or production; it has no default in production")
	f.check(c.PaymentBaseURL == "" || hasScheme(c.PaymentBaseURL, "http", "https"), "PAYMENT_BASE_URL",
		"must be http://... or https://...")
	f.check(c.PaymentBaseURL == "" || !c.Production() || hasScheme(c.PaymentBaseURL, "https"), "PAYMENT_BASE_URL",
		"must be https://... in production")
	f.check(c.PaymentCallbackURL == "" || hasScheme(c.PaymentCallbackURL, "http", "https"), "PAYMENT_CALLBACK_URL",
		"must be http://... or https://...")
	word := mobilemoney.ForbiddenWord(c.PaymentCallbackURL)
	f.check(word == "" || c.GatewayMode != gatewayLive, "PAYMENT_CALLBACK_URL",
		"must not have %q in it, not even inside another word: the provider refuses such addresses", word)
	given := 0
	for _, set := range []bool{
		c.PaymentConsumerKey != "", !c.PaymentConsumerSecret.IsZero(), c.PaymentShortcode != "",
		!c.PaymentPasskey.IsZero(),
	} {
		if set {
			given++
		}
	}
	f.check(given == 0 || given == 4, "PAYMENT_CONSUMER_KEY",
		"and PAYMENT_CONSUMER_SECRET, PAYMENT_SHORTCODE, PAYMENT_PASSKEY go together")
	f.check((c.PaymentInitiator == "") == c.PaymentCredential.IsZero(), "PAYMENT_INITIATOR",
		"and PAYMENT_SECURITY_CREDENTIAL go together")
	f.check(c.PaymentInitiator == "" || given == 4, "PAYMENT_INITIATOR", "needs the shared paybill")
	_, err := mobilemoney.NormalizePhone(c.PaymentNominated)
	f.check(c.PaymentNominated == "" || err == nil, "PAYMENT_NOMINATED_NUMBER", "must be a phone like 254712345678")
	if !c.Production() {
		return
	}
	f.check(c.GatewayMode != gatewayTest, "GATEWAY_MODE", "test uses the simulator, which production refuses")
	if c.GatewayMode == gatewayLive {
		f.check(len(c.PaymentAllowedIPs) > 0, "PAYMENT_ALLOWED_IPS",
			"must not be empty in production: callbacks would be accepted from everywhere")
		f.check(hasScheme(c.PaymentCallbackURL, "https"), "PAYMENT_CALLBACK_URL", "must be https://... in production")
	}
}

// checkNetwork checks the settings of fleet polls, drift checks and the tunnel.
func (c Config) checkNetwork(f *faults) {
	f.check(c.RouterNAT == "auto" || c.RouterNAT == "off", "ROUTER_NAT", "must be auto or off")
	f.check(c.RoutersPerOrganization > 0, "ROUTERS_PER_ORGANIZATION", "must be at least 1")
	f.check(c.VouchersPerOrganization > 0, "VOUCHERS_PER_ORGANIZATION", "must be at least 1")
	for _, server := range c.routerDNS() {
		address, err := netip.ParseAddr(server)
		f.check(err == nil && address.Is4(), "ROUTER_DNS", "must be IPv4 addresses, separated by commas")
	}
	f.check(c.WalledGardenAddr == "" || validAddr(c.WalledGardenAddr), "WALLED_GARDEN_ADDR", "must be host:port")
	for _, site := range siteFaults(c.gardenSites()) {
		f.check(false, "WALLED_GARDEN_SITES", "%q is no host name, IPv4 address or subnet", site)
	}
	f.check(c.FleetPollInterval >= time.Second, "FLEET_POLL_INTERVAL", "must be at least 1s")
	f.check(c.DriftCheckInterval >= time.Second, "DRIFT_CHECK_INTERVAL", "must be at least 1s")
	f.check(c.AuditInterval >= time.Second, "ACCESS_AUDIT_INTERVAL", "must be at least 1s")
	f.check(c.FleetHistoryKept >= time.Minute, "FLEET_HISTORY_RETENTION", "must be at least 1m")
	for name, addr := range map[string]string{
		"RADIUS_AUTH_ADDR": c.RadiusAuthAddr, "RADIUS_ACCT_ADDR": c.RadiusAcctAddr,
	} {
		f.check(addr == "" || validAddr(addr), name, "must be host:port")
	}
	f.check((c.RadiusAuthAddr == "") == (c.RadiusAcctAddr == ""), "RADIUS_ACCT_ADDR",
		"and RADIUS_AUTH_ADDR are set together, or neither is")
	for name, kept := range map[string]time.Duration{
		"SESSION_RETENTION": c.SessionsKept, "ADDRESS_RETENTION": c.AddressesKept, "USAGE_RETENTION": c.UsageKept,
	} {
		f.check(kept == 0 || kept >= 24*time.Hour, name, "must be at least 24h, or 0 for ever")
	}
	f.check(c.TunnelPort > 0 && c.TunnelPort < 65536, "TUNNEL_PORT", "must be from 1 to 65535")
	f.check(!strings.ContainsAny(c.TunnelHost, " :/\"\\$"), "TUNNEL_HOST", "must be a host name or IPv4 address")
}

// validAddr reports whether text is a listen address: host:port, where host may be empty.
func validAddr(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	_, err = net.LookupPort("tcp", port)
	return err == nil
}

// isLoopback reports whether a listen address can be reached from this machine only.
func isLoopback(text string) bool {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// validDomain reports whether text can be the parent of the organizations' host names.
func validDomain(text string) bool {
	return text != "" && len(text) < 190 && !strings.ContainsAny(text, ":/@ _") && !strings.HasPrefix(text, ".") &&
		!strings.HasSuffix(text, ".")
}

// validDatabase reports whether text is the address of a PostgreSQL server, by TCP or by the directory of its socket.
func validDatabase(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") &&
		(u.Host != "" || strings.HasPrefix(u.Query().Get("host"), "/"))
}

// hasScheme reports whether text is an absolute address with one of the schemes and with a host.
func hasScheme(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return false
	}
	for _, s := range schemes {
		if u.Scheme == s {
			return true
		}
	}
	return false
}

// routerDNS lists the name servers that customers behind a router are told; empty when none are set.
func (c Config) routerDNS() []string {
	return strings.FieldsFunc(c.RouterDNS, func(r rune) bool { return r == ',' || r == ' ' })
}
