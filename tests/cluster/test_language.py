"""The language of short requests, and that a guess is cheap and never fails."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.language import UNDETERMINED, language_of

REQUESTS = {
    "en": """
        create a new invoice for Acme
        show me unpaid bills
        delete the user with id 42
        what's the weather in Paris tomorrow
        list s3 buckets
        send an email to my manager
        convert 100 USD to EUR
        translate this text into Spanish
        how many orders did we ship last week
        book a table for two tonight
        resize image
        play some jazz
        rename branch
        van rental in LA
        find a café near me
        cheap flights to Malmö
        reset password
        die casting suppliers
        """,
    "fa": """
        یک فاکتور جدید برای مشتری بساز
        موجودی انبار چقدره
        لیست مشتریان بدهکار
        هوا فردا چطوره
        گزارش فروش ماه گذشته رو نشون بده
        ثبت سند حسابداری
        حساب بانکی اضافه کن
        پرداخت چک
        یه issue توی repository باز کن
        deploy کن روی سرور
        ایمیل رو به علی بفرست
        api key جدید بساز
        ميخواهم فاكتور فروش ثبت كنم
        مانده حساب صندوق
        سلام خوبی؟
        کالاها را جستجو کن
        چند تا فاکتور پرداخت نشده داریم
        mikham ye faktor sabt konam
        gozareshe forush ro neshoon bede
        """,
    "ar": """
        أريد إنشاء فاتورة جديدة
        ما هو الطقس غدا
        أرسل رسالة إلى المدير
        اعرض قائمة العملاء
        كم عدد الطلبات هذا الأسبوع
        احذف الملف من المجلد
        ابحث عن مطعم قريب مني
        حول 100 دولار إلى يورو
        متى موعد الاجتماع القادم
        ترجمة النص إلى الإنجليزية
        تحديث بيانات المستخدم
        تشغيل الموسيقى
        """,
    "ru": """
        создай новый счёт для клиента
        какая погода завтра в Москве
        отправь письмо начальнику
        удали файл
        сколько заказов на этой неделе
        покажи список пользователей
        перевод текста на английский
        найди ближайший ресторан
        забронировать номер в гостинице
        курс доллара
        включи музыку
        добавь задачу в Jira
        """,
    "uk": """
        створи новий рахунок для клієнта
        яка погода завтра у Києві
        надішли листа керівнику
        видали файл
        скільки замовлень цього тижня
        покажи список користувачів
        знайди найближчий ресторан
        переклади текст англійською
        увімкни музику
        потрібно оновити пароль
        """,
    "zh": """
        创建一个新的发票
        明天北京天气怎么样
        给经理发一封邮件
        删除用户
        查询 CVM 实例列表
        查看 DescribeInstances 的返回结果
        預訂酒店房間
        把文件上传到 cos bucket
        翻译成英文
        查找附近的餐厅
        播放音乐
        修改云服务器密码
        """,
    "ja": """
        新しい請求書を作成して
        明日の東京の天気は
        部長にメールを送る
        ユーザーを削除
        ファイルをアップロードする
        近くのレストランを探して
        英語に翻訳
        S3 バケットの一覧
        会議室を予約したい
        天気予報
        音楽を再生
        """,
    "ko": """
        새 송장을 만들어 줘
        내일 서울 날씨 어때
        부장님께 이메일 보내기
        사용자 삭제
        이번 주 주문 몇 건이야
        근처 식당 찾아줘
        영어로 번역
        음악 재생
        AWS 인스턴스 목록
        비밀번호 변경
        """,
    "he": """
        צור חשבונית חדשה ללקוח
        מה מזג האוויר מחר
        שלח מייל למנהל
        מחק את הקובץ
        תרגם לאנגלית
        """,
    "hi": """
        नया बिल बनाओ
        कल दिल्ली का मौसम कैसा रहेगा
        मैनेजर को ईमेल भेजो
        फ़ाइल हटाओ
        पास का रेस्टोरेंट खोजो
        """,
    "th": """
        สร้างใบแจ้งหนี้ใหม่
        พรุ่งนี้อากาศเป็นอย่างไร
        ส่งอีเมลถึงหัวหน้า
        ลบไฟล์
        แปลเป็นภาษาอังกฤษ
        """,
    "el": """
        δημιούργησε νέο τιμολόγιο
        τι καιρό θα κάνει αύριο
        στείλε email στον διευθυντή
        διέγραψε το αρχείο
        βρες κοντινό εστιατόριο
        """,
    "de": """
        erstelle eine neue Rechnung für den Kunden
        wie wird das Wetter morgen in Berlin
        E-Mail an meinen Chef senden
        Datei löschen
        zeige alle offenen Bestellungen
        finde ein Restaurant in der Nähe
        wie viele Aufträge hatten wir diese Woche
        Termin verschieben
        ich möchte ein Hotelzimmer buchen
        übersetze ins Englische
        Passwort zurücksetzen
        spiel Musik
        """,
    "fr": """
        créer une nouvelle facture pour le client
        quel temps fera-t-il demain à Paris
        envoie un mail à mon chef
        supprimer le fichier
        affiche les commandes de la semaine
        trouve un restaurant près de moi
        combien de factures impayées
        traduire en anglais
        réserver une chambre d'hôtel
        changer mon mot de passe
        liste des utilisateurs
        je voudrais annuler mon vol
        """,
    "es": """
        crear una nueva factura para el cliente
        qué tiempo hará mañana en Madrid
        envía un correo a mi jefe
        eliminar archivo
        muéstrame los pedidos de esta semana
        busca un restaurante cerca de aquí
        cuántas facturas hay sin pagar
        traducir al inglés
        quiero reservar una habitación
        cambiar contraseña
        lista de usuarios
        necesito cancelar mi vuelo
        """,
    "it": """
        crea una nuova fattura per il cliente
        che tempo farà domani a Roma
        invia una mail al mio capo
        elimina il file
        mostrami gli ordini della settimana
        trova un ristorante qui vicino
        quante fatture non sono pagate
        traduci in inglese questo testo
        vorrei prenotare una camera
        cambiare la password
        elenco degli utenti
        devo annullare il volo
        """,
    "pt": """
        criar uma nova fatura para o cliente
        como está o tempo amanhã em Lisboa
        envie um email para o meu chefe
        excluir arquivo
        mostre os pedidos desta semana
        encontre um restaurante perto de mim
        quantas faturas não foram pagas
        traduzir para o inglês
        quero reservar um quarto
        alterar a senha do usuário
        lista de usuários
        preciso cancelar meu voo
        """,
    "nl": """
        maak een nieuwe factuur voor de klant
        wat voor weer wordt het morgen in Amsterdam
        stuur een mail naar mijn baas
        verwijder het bestand
        toon alle bestellingen van deze week
        zoek een restaurant in de buurt
        hoeveel facturen zijn niet betaald
        vertaal naar het Engels
        ik wil een hotelkamer boeken
        wachtwoord wijzigen van gebruiker
        """,
    "pl": """
        utwórz nową fakturę dla klienta
        jaka będzie jutro pogoda w Warszawie
        wyślij maila do szefa
        usuń plik
        pokaż zamówienia z tego tygodnia
        znajdź restaurację w pobliżu
        ile faktur nie zostało zapłaconych
        przetłumacz na angielski
        chcę zarezerwować pokój
        zmiana hasła użytkownika
        """,
    "tr": """
        müşteri için yeni fatura oluştur
        yarın İstanbul'da hava nasıl olacak
        müdürüme e-posta gönder
        dosyayı sil
        bu haftaki siparişleri göster
        yakınımda bir restoran bul
        kaç fatura ödenmedi
        İngilizceye çevir
        otel odası ayırtmak istiyorum
        kullanıcı listesi
        sifremi nasil degistiririm
        """,
}
"""What people ask for, by language, one request a line."""

LABELLED = [(code, line.strip()) for code, text in REQUESTS.items() for line in text.strip().splitlines()]


def test_short_requests_of_many_languages_are_told_apart() -> None:
    wrong = [(code, language_of(text), text) for code, text in LABELLED if language_of(text) != code]
    assert len(LABELLED) >= 150
    assert len(REQUESTS) >= 12
    assert len(wrong) <= 0.03 * len(LABELLED), wrong
    print(f"{len(LABELLED) - len(wrong)} of {len(LABELLED)} right; wrong: {wrong}")  # noqa: T201 -- shown by pytest -s


@pytest.mark.parametrize("code", REQUESTS)
def test_no_language_is_often_mistaken(code: str) -> None:
    texts = [text for label, text in LABELLED if label == code]
    right = sum(language_of(text) == code for text in texts)
    assert right >= 0.8 * len(texts)


@pytest.mark.parametrize("text", ["", "   ", "12345", "!?", "😀 👍", "5 → 7"])
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert language_of(text) == UNDETERMINED


def test_latin_letters_of_a_language_that_is_not_known_have_none_either() -> None:
    assert language_of("tạo hóa đơn mới cho khách hàng") == UNDETERMINED
    assert language_of("najděte nejlevnější účtenku, děkuji") == UNDETERMINED


def test_a_foreign_word_in_a_sentence_is_not_its_language() -> None:
    assert language_of("how do I say 你好 in English") == "en"
    assert language_of("what does привет mean?") == "en"
    assert language_of("find me a hotel close to שדרות") == "en"


def test_terms_in_latin_letters_do_not_make_a_request_english() -> None:
    assert language_of("یک pull request روی branch اصلی باز کن") == "fa"
    assert language_of("用 DescribeInstances 查询 CVM instance") == "zh"
    assert language_of("добавь webhook в GitHub repository") == "ru"


def test_persian_typed_with_arabic_keys_is_persian() -> None:
    for text in ("گزارش فروش را نشان بده", "موجودي كالا را بگو", "ليست مشتريان را بده"):
        assert language_of(text) == language_of(text.replace("ی", "ي").replace("ک", "ك")) == "fa"


@given(st.text())
def test_any_text_has_one_language_and_always_the_same(text: str) -> None:
    code = language_of(text)
    assert code == language_of(text)
    assert code.isascii()
    assert code.islower()


def test_a_guess_costs_microseconds() -> None:
    started_s = time.process_time()
    for _, text in LABELLED:
        language_of(text)
    each_us = (time.process_time() - started_s) / len(LABELLED) * 1e6
    print(f"{each_us:.0f} µs a request")  # noqa: T201 -- shown by pytest -s
    language_of("а" * 10_000_000)  # a long text costs what its beginning costs
    assert each_us < 1000
