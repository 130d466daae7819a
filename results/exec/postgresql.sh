# SPDX-License-Identifier: MIT OR Apache-2.0
# PostgreSQL by itself, from an empty folder: a table, an index, a join.
set -e
bin=$(echo /usr/lib/postgresql/*/bin)
data=$(mktemp -d)
chown postgres "$data"
as='setpriv --reuid=postgres --regid=postgres --clear-groups'
$as "$bin/initdb" --no-sync --no-locale --auth=trust -D "$data" >/dev/null
$as "$bin/postgres" --single -D "$data" -c shared_buffers=16MB -c jit=off postgres <<'SQL'
create table numbers as select i, md5(i::text) as text from generate_series(1, 20000) i;
create index on numbers (text);
select count(*), sum(length(a.text)) from numbers a join numbers b on a.text > b.text and b.i < 5;
SQL
