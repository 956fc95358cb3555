"""Small words by language: those that hold sentences together, and what people begin a request with.

They come from general knowledge of the languages. Words that are also plain English stand under ``en``, too, which
halves what they say for the other language.
"""

from collections.abc import Mapping
from typing import Final

_LATIN: Final = {
    "en": """
        the a an and or but if of at by for with about into through to from in on off up out over under is
        are was were be been am do does did has have had can could will would should may might must not no
        yes this that these those there here what which who whom whose where when why how i me my we us our
        you your he him his she her it its they them their all any some every each more most much many few
        other another than then so as also only just please find show get give list create make add delete
        remove update send search tell want need like help let check look open close start stop run set new
        between after before during without within using use last next today tomorrow yesterday week month
        near best good die war van per come plus pour son met door men man even hat den bin est par fine
        translate translation english word mean means say said book played weather flight flights change
        client ai comment go reserve fare todo co io com non en ou op im order file product image rapport
        importer adres folder map ver mover lot doe dar converter baixar salon e o y w z u eu os clients
        fahrenheit pod
        """,
    "de": """
        der die das den dem des ein eine einen einem einer eines und oder aber wenn nicht kein keine keinen
        ist sind war waren wird werden wurde habe hat haben hast kann kannst können konnte soll muss möchte
        will ich du er sie es wir ihr mich dich sich mir dir uns mein meine meinen meinem meiner dein deine
        ihre unser unsere von vom zu zum zur mit bei nach aus auf für um über unter vor zwischen durch ohne
        gegen seit bis im am an in wie was wer wo wann warum welche welcher welches wieviel viel viele alle
        alles noch nur auch schon sehr mehr bitte zeige zeig gib finde suche suchen erstelle erstellen
        anlegen hinzufügen füge lösche löschen schicke sende senden öffne heute morgen gestern woche monat
        jahr neue neuen neuer neues letzten nächsten als dass ob diese dieser dieses diesen gibt bin sein
        etwas rechnung wetter termin kunde kunden datei übersetze übersetzen englisch buchen buche ändern
        ändere stornieren verschieben spiel spiele abspielen benutzer nutzer kennwort passwort bestellung
        bestellungen konto nähe exportieren exportiere importieren herunterladen hochladen prüfen prüfe
        öffnen schließen kopieren verschiebe bezahlen berechnen berechne umrechnen vergleichen vergleiche
        einschalten ausschalten schalte speichern drucken planen zusammenfassen aktualisieren anzeigen
        auflisten hinzu rechnungen dateien ordner flug flüge licht besprechung lager bestand bericht preis
        zahlung nachricht bild adresse produkt uhr zeit stadt wohnzimmer
        """,
    "fr": """
        le la les un une des du de et ou mais si ne pas plus est sont était être été ai as avons avez ont
        avoir peux peut pouvez pourrais voudrais veux je tu il elle nous vous ils elles me te se mon ma mes
        ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces qui que quoi dont où quand
        comment pourquoi quel quelle quels quelles combien dans sur sous avec sans pour par entre vers chez
        en au aux depuis pendant avant après tout tous toute toutes très aussi encore merci plaît svp montre
        montrez affiche afficher donne donnez trouve trouver cherche chercher crée créer ajoute ajouter
        supprime supprimer envoie envoyer ouvre faire fais liste aujourd demain hier semaine mois année
        nouveau nouvelle nouvelles dernier dernière prochain facture météo client fichier y a qu traduire
        traduis traduisez anglais réserver réserve annuler annule changer change modifier modifie jouer joue
        utilisateur utilisateurs commande commandes compte près exporter importer télécharger vérifier
        vérifie ouvrir fermer copier déplacer payer calculer calcule convertir comparer allumer éteindre
        lancer enregistrer imprimer planifier résumer résumé actualiser clients factures fichiers dossier
        vol vols lumière réunion rapport prix paiement image adresse produit heure ville salon mot passe
        """,
    "es": """
        el la los las un una unos unas y o pero si no de del al en con sin por para sobre entre hasta desde
        hacia según es son está están era fue ser estar he ha han hay haber tengo tiene puedo puede puedes
        podría quiero quisiera necesito yo tú él ella nosotros ellos me te se nos lo le les mi mis tu tus su
        sus nuestro nuestra este esta estos estas ese esa eso esto que qué quién cuál cuáles cómo como
        cuándo cuando dónde donde cuánto cuánta cuántos cuántas porque muy más también todo toda todos todas
        otro otra favor muestra muéstrame mostrar dame dime busca buscar encuentra encontrar crea crear
        añade añadir agrega agregar elimina eliminar borra borrar envía enviar abre abrir hacer haz lista
        hoy mañana ayer semana mes año nuevo nueva último última próximo factura clima cliente correo
        archivo traducir traduce inglés reservar reserva cancelar cancela cambiar cambia actualizar
        actualiza usuario usuarios pedido pedidos cuenta cerca exportar importar descargar subir revisar
        verificar comprobar cerrar copiar mover pagar calcular calcula convertir comparar encender apagar
        reproducir guardar imprimir programar resumir resumen modificar ver dar clientes facturas archivos
        carpeta vuelo vuelos luz reunión inventario informe precio pago mensaje imagen dirección producto
        hora ciudad contraseña
        """,
    "it": """
        il lo la i gli le un uno una e o ma se non di del dello della dei degli delle a al allo alla ai agli
        alle da dal dalla in nel nella nei con su sul sulla per tra fra è sono era essere ho hai ha abbiamo
        hanno avere posso può puoi potrei vorrei voglio devo io tu lui lei noi voi loro mi ti ci vi si mio
        mia miei mie tuo tua suo sua nostro questo questa questi queste quello quella che chi cosa cos come
        quando dove perché quale quali quanto quanta quanti quante molto più anche tutto tutti tutte altro
        favore grazie mostra mostrami dammi dimmi cerca cercare trova trovare crea creare aggiungi
        aggiungere elimina eliminare cancella invia inviare manda apri fare fai elenca oggi domani ieri
        settimana mese anno nuovo nuova ultimo ultima prossimo fattura meteo cliente qui traduci tradurre
        inglese prenotare prenota annullare annulla cambiare cambia modificare modifica utente utenti lista
        ordine ordini conto vicino esportare esporta importare scaricare scarica caricare controllare
        controlla verificare verifica aprire chiudere copiare spostare pagare calcolare calcola convertire
        convertì confrontare accendere accendi spegnere spegni riprodurre salvare stampare pianificare
        riassumere riassunto aggiornare mostrare clienti fatture file cartella volo voli luce riunione
        magazzino rapporto prezzo pagamento messaggio immagine indirizzo prodotto ora ore città
        """,
    "pt": """
        o a os as um uma uns umas e ou mas se não de do da dos das no na nos nas em com sem por pelo pela
        para pra sobre entre até desde é são está estão era foi ser estar tenho tem tenha há haver posso
        pode podes poderia quero queria preciso gostaria eu tu você vocês ele ela nós eles elas me te lhe
        meu minha meus minhas teu tua seu sua nosso este esta estes esse essa isso isto aquele que quem qual
        quais como quando onde quanto quanta quantos quantas porque muito mais também tudo todo toda todos
        todas outro favor obrigado mostra mostre mostrar dê diga busca buscar busque procure procurar
        encontre encontrar crie criar adicione adicionar exclua excluir apague envie enviar abra abrir fazer
        faça liste listar hoje amanhã ontem semana mês ano novo nova último última próximo fatura clima
        cliente arquivo traduzir traduza inglês reservar reserve cancelar cancele alterar altere mudar mude
        atualizar atualize usuário usuários utilizador lista pedido pedidos conta perto exportar importar
        baixar carregar verificar verifique conferir fechar copiar mover pagar calcular calcule converter
        comparar ligar desligar apagar acender tocar salvar imprimir agendar resumir resumo modificar ver
        dar clientes faturas arquivos pasta voo voos luz reunião estoque relatório preço pagamento mensagem
        imagem endereço produto hora horas cidade senha
        """,
    "nl": """
        de het een en of maar als niet geen is zijn was waren wordt worden ben bent heb heeft hebben had kan
        kun kunnen kon wil wilt zou moet mag ik jij je u hij zij ze wij we jullie mij me hem haar ons mijn
        jouw uw onze hun dit dat deze die wat wie waar wanneer waarom hoe welke hoeveel van voor met zonder
        op in naar uit bij over onder tussen door tegen sinds tot om te aan er ook nog wel heel veel alle
        alles graag alstublieft toon laat zien geef vind zoek zoeken maak maken aanmaken voeg toevoegen
        verwijder verwijderen stuur sturen verstuur open vandaag morgen gisteren week maand jaar nieuwe
        nieuw laatste volgende factuur weer klant bestand vertaal vertalen engels boeken boek wijzigen
        wijzig annuleren annuleer speel afspelen gebruiker gebruikers wachtwoord bestelling bestellingen
        rekening buurt exporteren exporteer importeren downloaden uploaden controleren controleer openen
        sluiten kopiëren verplaatsen betalen berekenen bereken omrekenen vergelijken aanzetten uitzetten zet
        afdrukken plannen samenvatten samenvatting bijwerken bewerken klanten facturen bestanden map vlucht
        vluchten licht vergadering voorraad rapport prijs betaling bericht afbeelding adres product uur tijd
        stad doe
        """,
    "pl": """
        i a w we z ze na do od po za o u przy przez dla bez nad pod między oraz lub albo ale jeśli nie jest
        są był była było być mam ma masz mamy mają mogę może możesz chcę chciałbym potrzebuję ja ty on ona
        ono my wy oni mnie mi cię ci go jej ich mój moja moje moich moim twój swój jego nasz ten ta to te
        tego tej tym tych co kto jaki jaka jakie jakich który która które których jak gdzie kiedy dlaczego
        czy ile się już tylko też także bardzo więcej wszystkie wszystko proszę pokaż podaj daj znajdź
        szukaj wyszukaj utwórz stwórz dodaj usuń wyślij otwórz zrób dziś dzisiaj jutro wczoraj tydzień
        miesiąc rok nowy nowa nowe nową ostatni ostatnie następny fakturę faktura pogoda klienta plik pokaz
        znajdz utworz stworz wyslij usun prosze przetłumacz angielski zarezerwuj zarezerwować anuluj zmień
        zmiana odtwórz użytkownik użytkownika użytkowników hasło lista zamówienie zamówienia konto pobliżu
        eksportuj eksportować importuj pobierz pobrać wczytaj sprawdź sprawdzić otworzyć zamknij kopiuj
        przenieś zapłać oblicz obliczyć przelicz porównaj włącz wyłącz zgaś zapal zapisz drukuj wydrukuj
        zaplanuj podsumuj podsumowanie zaktualizuj edytuj klientów klienci faktury faktur pliki folder lot
        loty światło spotkanie spotkania magazyn magazynu raport cena płatność wiadomość obraz adres produkt
        godzina miasto
        """,
    "tr": """
        bir ve veya ama ile için bu şu o ben sen biz siz onlar bana sana ona beni bizim benim senin onun
        bunu bunun ne nedir kim nerede nereye nasıl neden niçin niye hangi kaç kadar mi mı mu mü değil var
        yok çok daha en tüm bütün her hiç gibi göre sonra önce olan olarak olsun et ettim eder misin mısın
        lütfen istiyorum istiyor göster listele getir ver bul ara oluştur ekle sil kaldır gönder aç kapat
        yap yaz hesapla güncelle bugün yarın dün hafta ay yıl yeni son sonraki fatura hava durumu müşteri
        dosya arasında üzerinde hakkında icin nasil lutfen goster olustur gonder tum degil bugun yarin
        musteri çevir değiştir ayırt rezervasyon iptal çal kullanıcı kullanıcıları şifre sifre sipariş
        siparişleri liste listesi hesap yakın aktar indir yükle kontrol kopyala taşı öde dönüştür
        karşılaştır oynat kaydet yazdır planla özetle özeti düzenle müşteriler müşterileri faturalar
        faturaları dosyalar dosyayı klasör uçuş uçuşlar uçuşları ışık ışığı toplantı stok rapor fiyat ödeme
        mesaj resim adres ürün saat şehir şifremi
        """,
    "fa": """
        mikham mikhaam mikhay mikhahad mikhahim mikhastam mikhastim konam konim konid kon kone konand kard
        kardam kardan mikonam mikone mikonim mikonid baraye barai baram barat rooye ruye lotfan salam mishe
        misheh mishavad beshe shod shode bede bedid bedeh chetor chetori chetore chejoori chejori chegoone
        kojast koja hastam hast nist doost dari darid darim darand dare chand chandta chanta emrooz emruz
        dirooz diruz farda hame hameye ino oono inja unja azin jadid sabt gozaresh moshtari hesab mojoodi
        peyda neshoon neshun begoo bego befrest ersal befrestam ezafe hazf yek yeki mano shoma khodam agar
        ama vali bayad nadaram namayesh ro haye che chie chiye chande bishtar kamtar kheyli khoob khub daram
        behem toro
        """,
}  # fmt: skip

_ENDINGS: Final = {
    "de": "ung ungen keit heit ieren schaft lich liche",
    "fr": "aient erait issez euse euses",
    "es": "ción ciones miento mente",
    "it": "zione zioni amento mente aggio",
    "pt": "ção ções amento mente agem",
    "nl": "eren ingen heid lijk lijst",
    "pl": "ować acja acji ości anie enie ania enia ów ego",
    "tr": "ları leri ların lerin iyor ıyor uyor üyor mek mak",
}

_CYRILLIC: Final = {
    "ru": """
        и или но что как это этот эта эти для на в во с со по из от до при без под над между мне меня мой
        моя мои моих мы вы он она они его её их нужно надо хочу могу можно пожалуйста найди найти покажи
        показать создай создать отправь отправить добавь добавить удали удалить открой сделай дай скажи
        список какой какая какие сколько где когда почему кто все всех новый новая новое последний сегодня
        завтра вчера не нет есть был была быть если чтобы ещё уже только экспорт импорт скачай скачать
        проверь проверить закрой включи выключи измени обнови переведи счета клиентов пользователей
        """,
    "uk": """
        і й та або але що як це цей ця ці для на в у з зі по із від до при без під над між мені мене мій моя
        мої моїх ми ви він вона вони його її їх потрібно треба хочу можу можна будь ласка знайди знайти
        покажи показати створи створити надішли надіслати додай додати видали видалити відкрий зроби дай
        скажи список який яка які скільки де коли чому хто всі всіх новий нова нове останній сьогодні завтра
        вчора не немає є був була бути якщо щоб ще вже тільки чи експорт імпорт завантаж завантажити перевір
        закрий увімкни вимкни зміни оновити онови переклади рахунки рахунок клієнтів користувачів
        """,
}  # fmt: skip

_ARABIC: Final = {
    "fa": """
        را از به در که این آن با برای تا یا هم است هست هستند نیست بود شد شده شود کن کنم کنی کند کنید کنیم
        کرد کرده کردن میخوام میخواهم خواهم خواستم میشه میشود میتونم میتوانم می نمی ها های بده بدهید بگو بگیر
        لطفا لطفاً چه چی چیست چیه کیست کجا کجاست کی چرا چطور چطوری چگونه کدام چند چقدر یک یه همه هر من تو ما
        شما او خود اگر اما ولی باید دارم داریم دارد دارند داره رو روی زیر بین بدون پیدا نشان نشون نمایش ثبت
        ایجاد بساز بفرست ارسال اضافه حذف باز امروز فردا دیروز هفته ماه سال جدید آخرین بعدی قبلی فاکتور مشتری
        هوا گزارش لیست فهرست برام برایم برو ببین بزن علی بی کل پر چقد چنده کدوم میخوایم خیلی بیشتر کمتر
        """,
    "ar": """
        فی من علی إلی الی عن مع هذا هذه ذلک تلک الذی التی الذین ما ماذا هل لا لم لن قد کان کانت هو هی هم أنا
        انا نحن أنت انت أو او أن ان إن ثم کل بعض بعد قبل بین حتی إذا اذا لکن عند عندی لدی أرید ارید أحتاج
        احتاج أبحث ابحث یمکن یمکننی کیف أین این متی لماذا کم أی ای فضلک رجاء اعرض أعرض اظهر أظهر أنشئ انشئ
        إنشاء انشاء أضف اضف احذف أرسل ارسل افتح أعطنی اعطنی أخبرنی اخبرنی قائمة الیوم غدا غداً أمس جدید
        جدیدة آخر فاتورة عمیل ملف لی لک بی به لها له یوم
        """,
    "ur": """
        میں ہے ہیں کا کی کے کو سے نے پر اور یہ وہ کیا کیسے کہاں کب کیوں کون ایک تمام سب مجھے میرا میری میرے
        آپ ہم براہ کرم کریں کرو دکھائیں بنائیں بھیجیں تلاش نئی نیا آج کل نہیں تھا تھی گا گی لیے
        """,
}  # fmt: skip


def _by_word(lists: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language, words in lists.items():
        for word in dict.fromkeys(words.split()):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


LATIN: Final = _by_word(_LATIN)
"""Languages by word. ``fa`` is Persian in Latin letters, as it is typed on phones."""

ENDINGS: Final = _by_word(_ENDINGS)
"""Languages by the last letters of words of ``SHORTEST_STEM`` more letters; none is an ending of English words."""

SHORTEST_STEM: Final = 3
LONGEST_ENDING: Final = max(map(len, ENDINGS))

CYRILLIC: Final = _by_word(_CYRILLIC)
ARABIC: Final = _by_word(_ARABIC)
"""Words with Arabic's own keys for ``y`` and ``k`` stand here with those of Persian."""
