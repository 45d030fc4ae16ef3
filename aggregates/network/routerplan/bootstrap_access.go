package routerplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
)

// bootstrapCertificate names the certificate that the script makes for an encrypted service that has none.
const bootstrapCertificate = "platform-api"

// ServiceAccess says how one service of /ip/service must be on a router, so that the platform reaches it through the
// tunnel and nobody reaches it from elsewhere.
type ServiceAccess struct {
	Name string // www, www-ssl, api or api-ssl
	// Port is the port that the platform dials; 0 = the service is only restricted, and keeps its port and whether it
	// is on.
	Port int
	// Certificate is set for an encrypted service, which needs one with its key.
	Certificate bool
}

// ServicePlan lists how the services of a router of a version must be, for an API port. Both services with REST are
// always restricted to the tunnel. Where the service behind the API port has no REST in this release, the one of the
// API protocol that the platform falls back to is on, too. Source: docs/rules/network.md#bootstrap-script,
// docs/facts/routeros.md#releases.
func ServicePlan(apiPort int, v Version) []ServiceAccess {
	chosen := serviceOf(apiPort)
	plan := []ServiceAccess{{Name: chosen, Port: apiPort, Certificate: secure(chosen)}}
	if fallback, port, until := fallbackOf(chosen); fallback != "" {
		way := ServiceAccess{Name: fallback}
		if v.before(until) {
			way.Port, way.Certificate = port, secure(fallback)
		}
		plan = append(plan, way)
	}
	for _, name := range []string{"www", "www-ssl"} {
		if chosen != name {
			plan = append(plan, ServiceAccess{Name: name})
		}
	}
	return plan
}

// secure reports whether a service speaks TLS.
func secure(service string) bool { return strings.HasSuffix(service, "-ssl") }

// fallbackOf gives the service of the API protocol that the platform uses where a REST service has no REST, its port,
// and the first release that has REST there. Encryption never falls back to plain text.
func fallbackOf(service string) (fallback string, port int, until Version) {
	switch service {
	case "www":
		return "api", 8728, Version{Major: 7, Minor: 9}
	case "www-ssl":
		return "api-ssl", 8729, Version{Major: 7, Minor: 1}
	}
	return "", 0, Version{}
}

// before reports whether a version is older than another.
func (v Version) before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// version reads the router's version into the variables major and minor. A version is a text such as "7.16.1 (stable)"
// or "7.20beta2".
func (s *script) version() {
	s.put(`:local ver [/system resource get version]`)
	s.put(`:local major [:tonum [:pick $ver 0 [:find $ver "."]]]`)
	s.put(`:local tail [:pick $ver ([:find $ver "."] + 1) [:len $ver]]`)
	s.put(`:local minor 0`)
	s.put(`:local digits true`)
	s.put(`:for i from=0 to=([:len $tail] - 1) do={`)
	s.put(`:local c [:pick $tail $i ($i + 1)]`)
	s.put(`:if ([:typeof [:find "0123456789" $c]] != "num") do={ :set digits false }`)
	s.put(`:if ($digits) do={ :set minor ($minor * 10 + [:tonum $c]) }`)
	s.put(`}`)
}

// deniedPolicies are denied by name, because a group keeps every policy that a set does not mention.
var deniedPolicies = []string{"ftp", "reboot", "policy", "test", "password", "sniff", "sensitive", "romon"}

// access makes the API user and its group, and lets the services answer in the tunnel only.
func (s *script) access(c BootstrapConfig) {
	policies := []string{"read", "write", "api"}
	for _, p := range deniedPolicies {
		if p == "reboot" && c.AllowReboot {
			policies = append(policies, p)
			continue
		}
		policies = append(policies, "!"+p)
	}
	s.put("# 3. API user and services, restricted to the tunnel.")
	list := strings.Join(policies, ",")
	s.ensure("/user group", `name="`+bootstrapGroup+`"`, "policy="+list, `name="`+bootstrapGroup+`"`)
	// Version 6 does not know the policy rest-api.
	s.put(`:if ($major >= 7) do={`)
	s.late(fmt.Sprintf(`/user group set [find where name="%s"] policy=%s,rest-api`, bootstrapGroup, list))
	s.put(`}`)
	s.user(c)
	s.services(c.APIPort)
}

// user makes the API user, who may log in through the tunnel only. A user of that name outside the platform's group is
// a login of the operator, perhaps the only one: its group and its password stay, because the operator gave this user
// to the platform.
func (s *script) user(c BootstrapConfig) {
	name := "name=" + quoted(c.APIUser)
	values := fmt.Sprintf("password=%s address=%s disabled=no", quoted(c.APIPassword), commands.TunnelPlan)
	s.put(`:if ([:len [/user find where %s]] = 0) do={ /user add %s group=%s %s } else={`, name, name, bootstrapGroup,
		values)
	const foreign = "The user exists and is not the platform's: it stays as it is."
	s.put(`:if ([:len [/user find where %s group="%s"]] = 0) do={ :put "%s" } else={`, name, bootstrapGroup, foreign)
	s.put(`/user set [find where %s] %s`, name, values)
	s.put(`} }`)
}

// services writes the plan of ServicePlan. What differs by release is decided on the router.
func (s *script) services(apiPort int) {
	chosen := serviceOf(apiPort)
	fallback, port, until := fallbackOf(chosen)
	old := fmt.Sprintf("($major < %d || ($major = %d && $minor < %d))", until.Major, until.Major, until.Minor)
	if secure(chosen) || secure(fallback) {
		s.certificate()
	}
	for _, one := range ServicePlan(apiPort, Version{Major: 7, Minor: 99}) {
		s.put("/ip service set %s address=%s", one.Name, commands.TunnelPlan)
		switch one.Name {
		case chosen:
			s.open(one)
		case fallback:
			s.put(`:if %s do={`, old)
			s.open(ServiceAccess{Name: fallback, Port: port, Certificate: secure(fallback)})
			s.put(`}`)
		}
	}
}

// open gives a service its certificate and port and switches it on. A port that another service of the router has stays
// with that service.
func (s *script) open(one ServiceAccess) {
	if one.Certificate {
		s.put(`:local own [:tostr [/ip service get %s certificate]]`, one.Name)
		s.put(`:if ([:len [/certificate find where name=$own]] = 0) do={ /ip service set %s certificate="%s" }`,
			one.Name, bootstrapCertificate)
	}
	s.put(`:if ([:len [/ip service find where port=%d and name!="%s"]] = 0) do={`, one.Port, one.Name)
	s.put(`:do { /ip service set %s port=%d disabled=no } on-error={ :put "%s cannot be switched on at port %d." }`,
		one.Name, one.Port, one.Name, one.Port)
	s.put(`} else={ :put "Port %d belongs to another service of this router: choose another API port for %s." }`,
		one.Port, one.Name)
}

// certificate makes a certificate that signs itself, and waits at most 30 seconds for it. Encrypted services need one
// with its key; which one does not matter, since the tunnel has authenticated the router
// (docs/rules/network.md#api-ports).
func (s *script) certificate() {
	const find = `find where name="` + bootstrapCertificate + `"`
	s.put(`:if ([:len [/certificate %s]] = 0) do={ /certificate add name="%s" common-name="%s" days-valid=3650 }`, find,
		bootstrapCertificate, bootstrapCertificate)
	s.put(`:if ([:len [/certificate get [%s] fingerprint]] = 0) do={ /certificate sign %s }`, find,
		bootstrapCertificate)
	s.put(`:local signed 0`)
	s.put(`:for i from=1 to=15 do={ :if ($signed = 0) do={`)
	s.put(`:do { :set signed [:len [/certificate get [%s] fingerprint]] } on-error={ :set signed 0 }`, find)
	s.put(`:if ($signed = 0) do={ :delay 2s }`)
	s.put(`} }`)
}

// restrictedServices lists the services that no longer answer on the LAN after the script, for people who read it.
func restrictedServices(apiPort int) string {
	var names []string
	for _, one := range ServicePlan(apiPort, Version{}) {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
