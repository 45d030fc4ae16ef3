# Lastmile bootstrap, version 2. Safe to run again. It restricts services to the tunnel: afterwards
# api, www, www-ssl no longer answer on the LAN; winbox and ssh do.
{
:local ver [/system resource get version]
:local major [:tonum [:pick $ver 0 [:find $ver "."]]]
:local tail [:pick $ver ([:find $ver "."] + 1) [:len $ver]]
:local minor 0
:local digits true
:for i from=0 to=([:len $tail] - 1) do={
:local c [:pick $tail $i ($i + 1)]
:if ([:typeof [:find "0123456789" $c]] != "num") do={ :set digits false }
:if ($digits) do={ :set minor ($minor * 10 + [:tonum $c]) }
}
# 0. Rollbacks of repairs: they would undo this script.
:do { /system scheduler remove [find where name="platform-rollback-boot" and (comment="Platform" or comment~"^Platform run " or on-event~"comment=.Platform.20run.20")] } on-error={
:put "The scheduler of this router cannot be written." }
:do { /system scheduler remove [find where name="platform-rollback" and (comment="Platform" or comment~"^Platform run " or on-event~"comment=.Platform.20run.20")] } on-error={
:put "The scheduler of this router cannot be written." }
:do { /system scheduler remove [find where name="platform-rollback-2" and (comment="Platform" or comment~"^Platform run " or on-event~"comment=.Platform.20run.20")] } on-error={
:put "The scheduler of this router cannot be written." }
# 1. Management tunnel: everything else goes through it.
:if ([:len [/ppp profile find where name="platform-tunnel"]] = 0) do={ /ppp profile add name="platform-tunnel" use-encryption=yes use-compression=no change-tcp-mss=yes only-one=yes } else={ /ppp profile set [find where name="platform-tunnel"] use-encryption=yes use-compression=no change-tcp-mss=yes only-one=yes }
:if ([:len [/interface sstp-client find where name="platform-tunnel"]] = 0) do={ /interface sstp-client add name="platform-tunnel" connect-to=vpn.example.net verify-server-certificate=no user="nas-1a2b3c4d" password="tunnelSecret1" profile=platform-tunnel add-default-route=no disabled=no } else={ /interface sstp-client set [find where name="platform-tunnel"] user="nas-1a2b3c4d" password="tunnelSecret1" profile=platform-tunnel add-default-route=no disabled=no }
:if ($major < 7) do={
/interface sstp-client set [find where name="platform-tunnel"] connect-to="vpn.example.net:4443"
} else={
/interface sstp-client set [find where name="platform-tunnel"] connect-to=vpn.example.net
:do { :local cmd [:parse "/interface sstp-client set [find where name=\"platform-tunnel\"] port=4443"]; $cmd } on-error={ :put "skipped on this router" }
}
:local up false
:for i from=1 to=15 do={ :if (!$up) do={ :set up [/interface sstp-client get [find where name="platform-tunnel"] running]; :if (!$up) do={ :delay 2s } } }
:if (!$up) do={ :put "The tunnel is not up yet; the rest is set up all the same." }
# 2. RADIUS.
:if ([:len [/radius find where comment="Platform"]] = 0) do={ /radius set [find where address=10.99.0.1 service~"ppp"] comment="Platform" }
:if ([:len [/radius find where comment="Platform"]] = 0) do={ /radius add comment="Platform" service=ppp,hotspot address=10.99.0.1 secret="radiusSecret1" authentication-port=1812 accounting-port=1813 timeout=3s disabled=no src-address=0.0.0.0 accounting-backup=no called-id="" domain="" realm="" } else={ /radius set [find where comment="Platform"] service=ppp,hotspot address=10.99.0.1 secret="radiusSecret1" authentication-port=1812 accounting-port=1813 timeout=3s disabled=no src-address=0.0.0.0 accounting-backup=no called-id="" domain="" realm="" }
:do { :local cmd [:parse "/radius set [find where comment=\"Platform\"] protocol=udp"]; $cmd } on-error={ :put "skipped on this router" }
:local first true
:foreach one in=[/radius find where disabled=no service~"ppp|hotspot"] do={
:if ($first and [:len [/radius get $one called-id]] = 0) do={
:set first false
:if ([/radius get $one comment] != "Platform") do={ :put "Another RADIUS client is asked before the platform's: see the difference of this router's setup." }
} }
/ppp aaa set use-radius=yes accounting=yes interim-update=5m
/radius incoming set accept=yes port=3799
:if ($major >= 7) do={
:do { :local cmd [:parse "/radius incoming set vrf=main"]; $cmd } on-error={ :put "skipped on this router" }
}
# 3. API user and services, restricted to the tunnel.
:if ([:len [/user group find where name="platform-api"]] = 0) do={ /user group add name="platform-api" policy=read,write,api,!ftp,!reboot,!policy,!test,!password,!sniff,!sensitive,!romon } else={ /user group set [find where name="platform-api"] policy=read,write,api,!ftp,!reboot,!policy,!test,!password,!sniff,!sensitive,!romon }
:if ($major >= 7) do={
:do { :local cmd [:parse "/user group set [find where name=\"platform-api\"] policy=read,write,api,!ftp,!reboot,!policy,!test,!password,!sniff,!sensitive,!romon,rest-api"]; $cmd } on-error={ :put "skipped on this router" }
}
:if ([:len [/user find where name="platform"]] = 0) do={ /user add name="platform" group=platform-api password="apiPassword1" address=10.99.0.0/16 disabled=no } else={
:if ([:len [/user find where name="platform" group="platform-api"]] = 0) do={ :put "The user exists and is not the platform's: it stays as it is." } else={
/user set [find where name="platform"] password="apiPassword1" address=10.99.0.0/16 disabled=no
} }
/ip service set www address=10.99.0.0/16
:if ([:len [/ip service find where port=80 and name!="www"]] = 0) do={
:do { /ip service set www port=80 disabled=no } on-error={ :put "www cannot be switched on at port 80." }
} else={ :put "Port 80 belongs to another service of this router: choose another API port for www." }
/ip service set api address=10.99.0.0/16
:if ($major < 7 || ($major = 7 && $minor < 9)) do={
:if ([:len [/ip service find where port=8728 and name!="api"]] = 0) do={
:do { /ip service set api port=8728 disabled=no } on-error={ :put "api cannot be switched on at port 8728." }
} else={ :put "Port 8728 belongs to another service of this router: choose another API port for api." }
}
/ip service set www-ssl address=10.99.0.0/16
# 4. Firewall: the tunnel rule first. Rules of others are not touched.
:if ([:len [/interface list find where name="platform-management"]] = 0) do={ /interface list add name="platform-management" comment="Platform-fw:management" }
:if ([:len [/ip route find where comment="Platform-fw:management"]] = 0) do={ /ip route add  dst-address=10.98.0.5/32 gateway=platform-tunnel distance=1 disabled=no comment="Platform-fw:management" } else={ /ip route set [find where comment="Platform-fw:management"] dst-address=10.98.0.5/32 gateway=platform-tunnel distance=1 disabled=no comment="Platform-fw:management" }
{
:local old [/ip firewall filter find where comment~"^Platform-fw:"]
:local ids [/ip firewall filter find where dynamic=no]
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface=platform-tunnel src-address=10.99.0.1 comment="Platform-fw:tunnel" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface=platform-tunnel src-address=10.99.0.1 comment="Platform-fw:tunnel" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface=platform-tunnel src-address=10.99.0.1 protocol=udp dst-port=3799 comment="Platform-fw:radius-incoming" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface=platform-tunnel src-address=10.99.0.1 protocol=udp dst-port=3799 comment="Platform-fw:radius-incoming" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=drop in-interface=platform-tunnel comment="Platform-fw:tunnel-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=drop in-interface=platform-tunnel comment="Platform-fw:tunnel-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept in-interface=platform-tunnel src-address=10.99.0.1 comment="Platform-fw:tunnel-forward" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept in-interface=platform-tunnel src-address=10.99.0.1 comment="Platform-fw:tunnel-forward" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept in-interface=platform-tunnel out-interface-list=platform-management src-address=10.98.0.5 dst-address=10.20.0.0/16 protocol=tcp comment="Platform-fw:management-calls" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept in-interface=platform-tunnel out-interface-list=platform-management src-address=10.98.0.5 dst-address=10.20.0.0/16 protocol=tcp comment="Platform-fw:management-calls" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=drop in-interface=platform-tunnel comment="Platform-fw:tunnel-forward-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=drop in-interface=platform-tunnel comment="Platform-fw:tunnel-forward-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept out-interface=platform-tunnel in-interface-list=platform-management src-address=10.20.0.0/16 dst-address=10.98.0.5 protocol=tcp dst-port=7547,7567 comment="Platform-fw:management-server" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept out-interface=platform-tunnel in-interface-list=platform-management src-address=10.20.0.0/16 dst-address=10.98.0.5 protocol=tcp dst-port=7547,7567 comment="Platform-fw:management-server" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=accept out-interface=platform-tunnel in-interface-list=platform-management src-address=10.20.0.0/16 dst-address=10.98.0.5 protocol=tcp connection-state=established,related comment="Platform-fw:management-answers" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=accept out-interface=platform-tunnel in-interface-list=platform-management src-address=10.20.0.0/16 dst-address=10.98.0.5 protocol=tcp connection-state=established,related comment="Platform-fw:management-answers" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=drop in-interface-list=platform-management comment="Platform-fw:management-from-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=drop in-interface-list=platform-management comment="Platform-fw:management-from-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=forward action=drop out-interface-list=platform-management comment="Platform-fw:management-to-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=forward action=drop out-interface-list=platform-management comment="Platform-fw:management-to-drop" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=udp dst-port=67 comment="Platform-fw:management-dhcp" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=udp dst-port=67 comment="Platform-fw:management-dhcp" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=udp dst-port=53 comment="Platform-fw:management-dns-udp" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=udp dst-port=53 comment="Platform-fw:management-dns-udp" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=tcp dst-port=53 comment="Platform-fw:management-dns-tcp" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=accept in-interface-list=platform-management protocol=tcp dst-port=53 comment="Platform-fw:management-dns-tcp" }
:if ([:len $ids] > 0) do={ /ip firewall filter add chain=input action=drop in-interface-list=platform-management comment="Platform-fw:management-input-drop" place-before=($ids->0) } else={ /ip firewall filter add chain=input action=drop in-interface-list=platform-management comment="Platform-fw:management-input-drop" }
:foreach rule in=$old do={ /ip firewall filter remove $rule }
}
{
:local old [/ip firewall nat find where comment~"^Platform-fw:"]
:local ids [/ip firewall nat find where dynamic=no]
:if ([:len $ids] > 0) do={ /ip firewall nat add chain=srcnat action=accept out-interface=platform-tunnel src-address=10.20.0.0/16 dst-address=10.98.0.5 comment="Platform-fw:management" place-before=($ids->0) } else={ /ip firewall nat add chain=srcnat action=accept out-interface=platform-tunnel src-address=10.20.0.0/16 dst-address=10.98.0.5 comment="Platform-fw:management" }
:foreach rule in=$old do={ /ip firewall nat remove $rule }
}
# 5. Report the version.
/interface sstp-client set [find where name="platform-tunnel"] comment="Platform BOOTSTRAP_VERSION=2 TUNNEL=0d016329 RADIUS=e22b8e6a"
:do { :local cmd [:parse "/tool fetch url=\"https://isp.example.net/webhooks/bootstrap/TOKEN/2\" http-method=post http-data=\"\" check-certificate=no keep-result=no"]; $cmd } on-error={ :put "skipped on this router" }
:put "BOOTSTRAP_VERSION=2 done"
}
