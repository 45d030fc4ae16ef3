# A bootstrap script of the platform's kind, as a test of the interpreter: idempotent, 6.49 and 7.x.
{
  :local version [/system resource get version]
  :local major [:tonum [:pick $version 0 [:find $version "."]]]
  :put "release $version, major $major"

  # tunnel first; a comment may hold " and { and the word don't
  :if ([:len [/ppp profile find where name="platform-tunnel"]] = 0) do={
    /ppp profile add name=platform-tunnel use-encryption=yes only-one=yes
  }
  :if ([:len [/interface sstp-client find where name="platform-tunnel"]] = 0) do={
    /interface sstp-client add name=platform-tunnel connect-to=vpn.example.com user=r1 password="pa55" profile=platform-tunnel disabled=no
  } else={
    /interface sstp-client set [find where name="platform-tunnel"] connect-to=vpn.example.com user=r1 password="pa55" profile=platform-tunnel disabled=no
  }
  :local tries 0
  :while ($tries < 30 && ![/interface sstp-client get [find where name="platform-tunnel"] running]) do={
    :delay 1s
    :set tries ($tries + 1)
  }

  :if ([:len [/radius find where comment="Platform"]] = 0) do={
    /radius add service=ppp,hotspot address=10.99.0.1 secret=abc123 authentication-port=1812 accounting-port=1813 \
      timeout=3s comment="Platform"
  } else={
    /radius set [find where comment="Platform"] service=ppp,hotspot address=10.99.0.1 secret=abc123 timeout=3s
  }
  /radius incoming set accept=yes port=3799
  /ppp aaa set use-radius=yes accounting=yes interim-update=5m

  # rest-api is unknown to 6.x, where it would be a fault of the text
  :local policy "read,write,api,!ftp,!reboot,!policy,!test,!password,!sniff,!sensitive,!romon"
  :if ($major >= 7) do={ :set policy ($policy . ",rest-api") }
  :if ([:len [/user group find where name="platform-api"]] = 0) do={
    /user group add name=platform-api policy=$policy comment="Platform"
  } else={
    /user group set [find where name="platform-api"] policy=$policy
  }
  :do {
    :local f [:parse "/user group set [find where name=\"platform-api\"] policy=\"$policy\""]
    $f
  } on-error={ :put "policy not set" }
  :if ([:len [/user find where name="platform"]] = 0) do={
    /user add name=platform group=platform-api password="secret" address=10.99.0.0/16 comment="Platform"
  }
  /ip service set www address=10.99.0.0/16 disabled=no
  /ip service set [find where name="api" and dynamic!=yes] address=10.99.0.0/16 disabled=no

  # the tunnel's rule first: ours are made anew, in front of the first rule that can be moved
  /ip firewall filter remove [find where comment~"^Platform-fw:"]
  :local ids [/ip firewall filter find where dynamic=no]
  :if ([:len $ids] > 0) do={
    /ip firewall filter add chain=input action=accept in-interface=platform-tunnel comment="Platform-fw:tunnel" place-before=($ids->0)
  } else={
    /ip firewall filter add chain=input action=accept in-interface=platform-tunnel comment="Platform-fw:tunnel"
  }
  :foreach id in=[/ip firewall filter find where comment~"^Platform-fw:"] do={
    :put ("rule " . [/ip firewall filter get $id comment])
  }
  :put "BOOTSTRAP_VERSION=2 done"
}
