#!/bin/sh
# Creates the role and the database of the service. Patroni passes the URL of the new primary.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" "$1" <<'SQL'
create role sluice login password :'password';
create database sluice owner sluice;
SQL
